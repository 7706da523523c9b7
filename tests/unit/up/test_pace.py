"""How large a batch may be, by how long the last ones took (Streams 8)."""

from __future__ import annotations

import pytest

from workers.runtime.host import BATCH_SECONDS, FIRST_RECORDS, POLL_RECORDS, Pace


def after(*batches: tuple[int, float]) -> int:
    pace = Pace()
    for records, seconds in batches:
        pace.took(min(records, pace.limit), seconds)
    return pace.limit


def test_it_begins_small_and_grows_to_the_most() -> None:
    assert after() == FIRST_RECORDS
    assert after((POLL_RECORDS, 0.01)) == 2 * FIRST_RECORDS
    assert after(*[(POLL_RECORDS, 0.01)] * 10) == POLL_RECORDS


@pytest.mark.parametrize("each", [0.001, 0.05, 1.0, 10.0])
def test_a_batch_of_slow_records_takes_about_as_long_as_it_may(each: float) -> None:
    pace = Pace()
    for _ in range(20):
        pace.took(pace.limit, pace.limit * each)
    assert pace.limit == max(1, min(POLL_RECORDS, round(BATCH_SECONDS / each)))


def test_one_record_that_hung_is_forgotten_as_quickly_as_others_are_handled() -> None:
    assert after((1, 10.0)) == 1
    assert after((1, 10.0), *[(POLL_RECORDS, 0.01)] * 12) == POLL_RECORDS


def test_a_few_records_say_nothing_of_many() -> None:
    full = [(POLL_RECORDS, 0.01)] * 10
    assert after(*full, (1, 0.5)) == POLL_RECORDS
    assert after((1, 0.0)) == FIRST_RECORDS


def test_a_batch_that_fails_counts_as_well() -> None:
    pace = Pace()
    with pytest.raises(ZeroDivisionError), pace.over(pace.limit):
        _ = 1 / 0
    assert pace.limit == 2 * FIRST_RECORDS


def test_a_service_that_gathers_may_have_more_at_once() -> None:
    pace = Pace(4 * POLL_RECORDS)
    for _ in range(10):
        pace.took(pace.limit, 0.001)
    assert pace.limit == 4 * POLL_RECORDS
