"""What a member has fetched and not delivered yet: order, limits, turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from engines.kafka.buffer import Buffer
from engines.log import LogRecord, TopicPartition


class Fetched(NamedTuple):
    offset: int


def convert(found: Sequence[Fetched]) -> list[LogRecord]:
    return [LogRecord(one.offset, "", b"", 0) for one in found]


def at(partition: int) -> TopicPartition:
    return TopicPartition("t", partition)


def filled(counts: Sequence[int]) -> Buffer:
    """So many records a partition, in fetches of at most three, each followed by a gap of one."""
    buffer = Buffer(convert)
    for partition, count in enumerate(counts):
        for start in range(0, count, 3):
            offsets = range(start * 2, start * 2 + min(3, count - start))
            buffer.add(at(partition), [Fetched(offset) for offset in offsets], offsets[-1] + 2)
    return buffer


@given(st.lists(st.integers(0, 20), max_size=5), st.integers(1, 9))
def test_all_come_once_in_order_and_never_more_than_asked_for(counts: list[int], limit: int) -> None:
    buffer = filled(counts)
    got: defaultdict[TopicPartition, list[int]] = defaultdict(list)
    nexts: dict[TopicPartition, int] = {}
    while buffer.count():
        batches = buffer.take(limit)
        assert 0 < sum(len(batch.records) for batch in batches) <= limit
        for batch in batches:
            offsets = [record.offset for record in batch.records]
            assert offsets[0] >= nexts.get(batch.at, 0)
            assert batch.next_offset > offsets[-1]
            got[batch.at] += offsets
            nexts[batch.at] = batch.next_offset
    assert buffer.take(limit) == []
    assert {key.partition: len(offsets) for key, offsets in got.items()} == {p: n for p, n in enumerate(counts) if n}
    assert all(offsets == sorted(set(offsets)) for offsets in got.values())


def test_each_partition_comes_in_turn() -> None:
    buffer = filled([300, 300, 300])
    assert {batch.at for _ in range(3) for batch in buffer.take(5)} == {at(0), at(1), at(2)}


def test_a_gap_behind_the_last_record_is_stepped_over_only_with_it() -> None:
    buffer = filled([3])
    assert [batch.next_offset for batch in buffer.take(2)] == [2]
    assert [batch.next_offset for batch in buffer.take(2)] == [4]


def test_what_is_left_out_waits_and_what_is_dropped_is_gone() -> None:
    buffer = filled([4, 4])
    assert {batch.at for batch in buffer.take(10, {at(0)})} == {at(1)}
    assert (buffer.count(), buffer.count({at(0)}), buffer.holds(at(0))) == (4, 0, True)
    buffer.drop(at(0))
    assert not buffer.holds(at(0))
    assert buffer.take(10) == []
