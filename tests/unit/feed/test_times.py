"""Times: the fast path is the slow one, and nothing that is no time becomes one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RecordInvalid
from schemas.scales import FLOOR, LIMIT, SECOND, parse_rfc3339, rfc3339, seconds_to_micros
from tests.strategies import json_values
from workers.feed.times import event_time


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
