"""Reading topics without a group: for versions that the store no longer has, and for verification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engines.log import EventLog, LogRecord, TopicPartition
from engines.partitioner import partition_of
from engines.store import StateStore
from engines.topics import STATES
from merge.contents import outlined
from schemas.errors import InputError

MERGER = "merger"
"""The consumer group of the mergers."""
PAGE = 512
"""Records per read."""


def records(log: EventLog, at: TopicPartition, end: int, start: int = 0) -> Iterator[LogRecord]:
    """What is kept of a partition from offset `start` on and below `end`, in order."""
    while start < end:
        page = log.read(at, start, PAGE)
        for record in page:
            if record.offset >= end:
                return
            yield record
        if not page:
            return
        start = page[-1].offset + 1


def partitions_of(log: EventLog, topic: str, case: str | None) -> Iterable[TopicPartition]:
    """The partition that holds a case's records, or all of them for None."""
    count = log.partitions(topic)
    wanted = range(count) if case is None else [partition_of(case, count)]
    return [TopicPartition(topic, one) for one in wanted]


def find(store: StateStore, log: EventLog, case: str, numbers: Iterable[int]) -> dict[int, LogRecord]:
    """By number: the records of `states` that hold these versions of a case, as far as there are any, unproved.

    Where they lie is noted in the store, so that all are fetched in one call. Those whose place is not noted, or where
    something else is found, are searched for once, between the neighbours whose places are right; at worst in the whole
    partition.
    """
    wanted = sorted(set(numbers))
    (at,) = partitions_of(log, STATES, case)
    found = _fetched(store, log, at, case, wanted)
    missing = [number for number in wanted if number not in found]
    if missing:
        found |= _searched(store, log, at, case, missing)
    return found


def _fetched(
    store: StateStore, log: EventLog, at: TopicPartition, case: str, numbers: list[int]
) -> dict[int, LogRecord]:
    places = store.places(case, numbers)
    records = log.fetch(at, sorted(places.values()))
    held = {number: records[place] for number, place in places.items() if place in records}
    return {number: record for number, record in held.items() if _number(record, case) == number}


def _searched(
    store: StateStore, log: EventLog, at: TopicPartition, case: str, missing: list[int]
) -> dict[int, LogRecord]:
    around = _fetched(store, log, at, case, [missing[0] - 1, missing[-1] + 1])
    before, after = around.get(missing[0] - 1), around.get(missing[-1] + 1)
    end = log.end_offsets(STATES)[at.partition] if after is None else after.offset
    left = set(missing)
    found: dict[int, LogRecord] = {}
    for record in records(log, at, end, 0 if before is None else before.offset + 1):
        number = _number(record, case)
        if number in left:
            found[number] = record
            left.remove(number)
            if not left:
                break
    return found


def _number(record: LogRecord, case: str) -> int | None:
    """Which version of the case a record of `states` says it holds, or None."""
    try:
        return outlined(record.value)[0] if record.key == case else None
    except InputError:
        return None
