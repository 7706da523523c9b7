"""Whoever makes no progress though there is work is found, and nobody else."""

from __future__ import annotations

from casetape.lagging import Position
from casetape.watching import Watch
from engines.log import TopicPartition

AT = TopicPartition("observations", 3)
LIMIT = 100.0


def position(done: int, end: int, group: str = "detect-default", at: TopicPartition = AT) -> Position:
    return Position(group, at, start=0, end=end, committed=0, done=done, oldest=None)


def test_who_stands_while_records_wait_is_stuck() -> None:
    watch = Watch(LIMIT)
    assert watch.look(0.0, [position(5, 9)]) == []
    assert watch.look(LIMIT, [position(5, 12)]) == []
    (stuck,) = watch.look(LIMIT + 1, [position(5, 12)])
    assert (stuck.group, stuck.at, stuck.waiting, stuck.seconds) == ("detect-default", AT, 7, LIMIT + 1)


def test_who_moves_is_not_stuck_however_much_waits() -> None:
    watch = Watch(LIMIT)
    for step in range(10):
        assert watch.look(step * LIMIT, [position(step, 10_000)]) == []


def test_who_has_nothing_to_do_is_not_stuck() -> None:
    """Streams, row 7, the other way round: an idle source is no trouble; the clock starts when records come."""
    watch = Watch(LIMIT)
    assert watch.look(0.0, [position(5, 5)]) == []
    assert watch.look(10 * LIMIT, [position(5, 5)]) == []
    assert watch.look(10 * LIMIT + 1, [position(5, 6)]) == []
    assert watch.look(11 * LIMIT + 1, [position(5, 6)]) != []


def test_each_partition_and_group_by_itself() -> None:
    """Streams, row 7: one partition stands still while the process looks healthy."""
    watch = Watch(LIMIT)
    other = TopicPartition("observations", 4)
    watch.look(0.0, [position(0, 9), position(0, 9, at=other), position(0, 9, group="merger")])
    stuck = watch.look(LIMIT + 1, [position(0, 9), position(1, 9, at=other), position(2, 9, group="merger")])
    assert [(one.group, one.at) for one in stuck] == [("detect-default", AT)]
