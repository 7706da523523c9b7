"""Whose turn it is (I10): nobody is read far ahead of another, and somebody is always read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.feed.source import PIECE_LINES
from workers.feed.turns import ABREAST, due, limits, portion

times = st.lists(st.none() | st.integers(0, 10 * ABREAST), max_size=8)


@given(times)
def test_somebody_may_always_be_read_and_nobody_far_ahead_of_another(given_times: list[int | None]) -> None:
    said = limits(given_times)
    known = [time for time in given_times if time is not None]
    assert not given_times or any(map(due, given_times, said))
    for at, (time, limit) in enumerate(zip(given_times, said, strict=True)):
        others = [other for where, other in enumerate(given_times) if other is not None and where != at]
        if time is None:
            assert limit is None
        elif others:
            assert limit == min(others) + ABREAST
            assert due(time, limit) == (time <= min(others) + ABREAST)
        else:
            assert limit is None
    assert all(due(time, limit) for time, limit in zip(given_times, said, strict=True) if known and time == min(known))


@given(st.lists(st.integers(0, 100), min_size=1, max_size=50), st.none() | st.integers(0, 100), st.data())
def test_a_portion_is_never_empty_and_ends_before_the_limit_where_it_can(
    seconds: list[int], limit: int | None, data: st.DataObject
) -> None:
    lines = [b"%d" % second for second in seconds]
    start = data.draw(st.integers(0, len(lines) - 1))
    count = portion(lines, start, limit, int)
    assert 1 <= count <= len(lines) - start
    if limit is None:
        assert count == len(lines) - start
    elif count > 1:
        assert seconds[start + count - 1] <= limit


def test_a_portion_is_no_more_than_a_piece() -> None:
    lines = [b"1"] * (PIECE_LINES + 5)
    assert portion(lines, 0, None, int) == PIECE_LINES
    assert portion(lines, 0, 1, int) == PIECE_LINES
    assert portion(lines, PIECE_LINES, 1, int) == 5


def test_lines_without_a_time_are_taken_as_they_come() -> None:
    assert portion([b"x"] * 9, 2, 0, lambda line: None) == 7
