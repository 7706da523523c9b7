"""Recall and false alarms at medium on seeded traffic; `measure.py` prints the full tables."""

from __future__ import annotations

import pytest

from tests.unit.beaconing import traffic
from tests.unit.beaconing.measure import Row, rows

ROUNDS = 30
ENOUGH_CALLS = 20


@pytest.fixture(scope="module")
def beacons() -> list[Row]:
    return list(rows(traffic.BEACONS, ROUNDS))


@pytest.fixture(scope="module")
def background() -> list[Row]:
    return list(rows(traffic.BACKGROUND, ROUNDS))


def test_a_beacon_with_enough_calls_is_found(beacons: list[Row]) -> None:
    missed = [row for row in beacons if row.connections >= ENOUGH_CALLS and row.medium < 0.9]
    assert missed == []


def test_a_dozen_calls_with_none_lost_are_enough(beacons: list[Row]) -> None:
    complete = [row for row in beacons if row.name.endswith(", 0 % lost")]
    assert len(complete) == 21
    assert [row for row in complete if row.medium < 0.85] == []


def test_background_stays_below_medium(background: list[Row]) -> None:
    assert [row for row in background if row.medium > 0.05] == []
    assert sum(row.medium for row in background) / len(background) <= 0.005


def test_more_beacons_are_found_than_by_rita_with_fewer_alarms(beacons: list[Row], background: list[Row]) -> None:
    assert sum(row.medium for row in beacons) > 2 * sum(row.rita_medium for row in beacons)
    assert sum(row.medium for row in background) < sum(row.rita_medium for row in background)


def test_what_cannot_be_told_apart_is_said_so() -> None:
    """A harmless hourly check is a beacon by its connections; the page says so, and this keeps the page honest."""
    assert all(row.medium == 1 for row in rows(traffic.ALIKE, ROUNDS))
