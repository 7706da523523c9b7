"""The order of verdicts, and the severity of a score."""

from __future__ import annotations

import pytest
from hypothesis import given

from schemas.verdicts import SEVERITIES, VERDICTS, rank, severity_of
from tests.strategies import millionths


@pytest.mark.parametrize(
    ("score", "severity"),
    [
        (0, "info"),
        (399_999, "info"),
        (400_000, "low"),
        (599_999, "low"),
        (600_000, "medium"),
        (799_999, "medium"),
        (800_000, "high"),
        (949_999, "high"),
        (950_000, "critical"),
        (1_000_000, "critical"),
    ],
)
def test_severity_by_score(score: int, severity: str) -> None:
    assert severity_of(score) == severity


@given(millionths, millionths)
def test_a_higher_score_is_never_less_severe(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert SEVERITIES.index(severity_of(low)) <= SEVERITIES.index(severity_of(high))


def test_verdicts_from_best_to_worst() -> None:
    assert sorted(VERDICTS, key=rank) == ["benign", "unknown", "suspicious", "malicious"]
