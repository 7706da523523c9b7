"""Times: the fast path is the slow one, and nothing that is no time becomes one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RecordInvalid
from schemas.scales import DAY, EARLIEST, FLOOR, LIMIT, SECOND, parse_rfc3339, rfc3339, seconds_to_micros
from tests.strategies import json_values
from workers.feed.times import UNITS, event_time, time_in_format, time_in_unit


@given(st.floats(FLOOR / SECOND, (LIMIT - SECOND) / SECOND))
def test_a_float_of_seconds(seconds: float) -> None:
    assert event_time("ts", seconds) == seconds_to_micros(seconds)


@given(st.integers(FLOOR, LIMIT - 1))
def test_every_time_that_can_be_printed_is_read_back(at: int) -> None:
    assert event_time("ts", rfc3339(at)) == at == parse_rfc3339(rfc3339(at))
    assert event_time("ts", rfc3339(at).removesuffix("Z")) == at
    assert event_time("ts", f"{'-' if at < 0 else ''}{abs(at) // SECOND}.{abs(at) % SECOND:06}") == at


@given(json_values)
def test_anything_else_is_a_time_on_the_tape_none_or_an_error_without_the_value(value: object) -> None:
    try:
        at = event_time("the.field", value)
    except RecordInvalid as error:
        assert str(error).startswith("the.field: ")  # noqa: PT017 -- both outcomes are lawful
    else:
        assert at is None or FLOOR <= at < LIMIT


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1_000", "١٢", "1e999", "0x10", "nan", "12:00", b"1"])
def test_these_are_no_times(value: object) -> None:
    with pytest.raises(RecordInvalid):
        event_time("ts", value)


@pytest.mark.parametrize("unit", UNITS)
@given(st.integers(EARLIEST, EARLIEST + 50 * 365 * DAY))
def test_finer_units_are_told_by_their_size(unit: str, at: int) -> None:
    """From 2000 on for half a century no two units can be confused."""
    number = at * UNITS[unit] // SECOND
    assert event_time("ts", number) == event_time("ts", str(number)) == time_in_unit("ts", number, unit)
    assert event_time("ts", number) == number * SECOND // UNITS[unit]


@given(json_values)
def test_a_unit_or_a_form_gives_a_time_on_the_tape_none_or_an_error_without_the_value(value: object) -> None:
    for read in (
        lambda: time_in_unit("the.field", value, "ms"),
        lambda: time_in_format("the.field", value, "%d/%b/%Y:%H:%M:%S %z"),
    ):
        try:
            at = read()
        except RecordInvalid as error:
            assert str(error).startswith("the.field: ")  # noqa: PT017 -- both outcomes are lawful
        else:
            assert at is None or FLOOR <= at < LIMIT


def test_a_unit_counts_whatever_the_size() -> None:
    assert time_in_unit("ts", 12, "ms") == 12_000
    with pytest.raises(RecordInvalid, match="outside the years"):
        time_in_unit("ts", 1691497800000, "s")
    assert time_in_format("ts", "08/Aug/2023:14:30:00 +0200", "%d/%b/%Y:%H:%M:%S %z") == 1_691_497_800_000_000
    assert time_in_format("ts", "2023-08-08 12:30:00", "%Y-%m-%d %H:%M:%S") == 1_691_497_800_000_000
