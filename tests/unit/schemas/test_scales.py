"""Times in microseconds and shares in millionths, to people's forms and back."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.scales import EARLIEST, FLOOR, LIMIT, MILLION, SECOND, decimal, parse_rfc3339, rfc3339, seconds_to_micros
from tests.strategies import millionths, times


@given(times)
def test_every_time_on_the_tape_can_be_printed_and_read(at: int) -> None:
    assert parse_rfc3339(rfc3339(at)) == at


@given(times, times)
def test_printed_times_of_whole_seconds_sort_like_times(one: int, other: int) -> None:
    one, other = one // SECOND * SECOND, other // SECOND * SECOND
    assert (rfc3339(one) < rfc3339(other)) == (one < other)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_588_248_000_123_456, "2020-04-30T12:00:00.123456Z"),
        (1_588_248_000_100_000, "2020-04-30T12:00:00.100000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (EARLIEST, "2000-01-01T00:00:00Z"),
        (FLOOR, "0001-01-01T00:00:00Z"),
        (LIMIT - 1, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_times_are_pinned(at: int, text: str) -> None:
    assert rfc3339(at) == text
    assert parse_rfc3339(text) == at


@pytest.mark.parametrize("at", [LIMIT, FLOOR - 1])
def test_beyond_the_limits_no_time_can_be_printed(at: int) -> None:
    with pytest.raises(OverflowError):
        rfc3339(at)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2020-04-30T14:00:00+02:00", 1_588_248_000_000_000),
        ("2020-04-30T12:00:00.5Z", 1_588_248_000_500_000),
        ("2020-04-30T12:00:00.123456999Z", 1_588_248_000_123_456),
    ],
)
def test_other_forms_of_a_time(text: str, at: int) -> None:
    assert parse_rfc3339(text) == at


@pytest.mark.parametrize(
    "text",
    ["", "2020-04-30T12:00:00", "2020-04-30", "2020-06-28T09:56:08.167548Eastern Daylight Time", "1588248000", "now"],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"zone|isoformat"):
        parse_rfc3339(text)


@given(st.integers(0, 2**32 * SECOND))
def test_seconds_as_a_double_keep_their_microseconds_until_2106(at: int) -> None:
    assert seconds_to_micros(at / SECOND) == at


@given(times)
def test_seconds_as_a_decimal_are_exact(at: int) -> None:
    assert seconds_to_micros(Decimal(at) / SECOND) == at


@pytest.mark.parametrize(("seconds", "at"), [("0.0000005", 0), ("0.0000015", 2), ("-0.0000015", -2), ("0.0000006", 1)])
def test_halves_go_to_the_even_one(seconds: str, at: int) -> None:
    assert seconds_to_micros(Decimal(seconds)) == at


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), Decimal("nan"), Decimal("-inf")])
def test_what_is_not_finite_is_no_time(seconds: float | Decimal) -> None:
    with pytest.raises((OverflowError, ValueError)):
        seconds_to_micros(seconds)


@given(millionths)
def test_a_share_for_people_reads_back(share: int) -> None:
    assert round(decimal(share) * MILLION) == share
