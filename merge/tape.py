"""Reading topics without a group: for histories that the store no longer has, and for verification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engines.log import EventLog, LogRecord, TopicPartition
from engines.partitioner import partition_of
from engines.topics import STATES
from schemas.version import StateVersion

MERGER = "merger"
"""The consumer group of the mergers."""
PAGE = 512
"""Records per read."""


def records(log: EventLog, at: TopicPartition, end: int) -> Iterator[LogRecord]:
    """What is kept of a partition below offset `end`, in order."""
    start = 0
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


def tape_versions(log: EventLog, case: str, first: int, last: int) -> dict[int, StateVersion]:
    """By number: versions `first`..`last` of a case as `states` keeps them, contents included. Reads one partition from
    its beginning. Raises what `StateVersion.parse` raises."""
    found: dict[int, StateVersion] = {}
    for at in partitions_of(log, STATES, case):
        for record in records(log, at, log.end_offsets(STATES)[at.partition]):
            if record.key == case:
                version = StateVersion.parse(record.value)
                if first <= version.number <= last:
                    found.setdefault(version.number, version)
                if len(found) == last - first + 1:
                    return found
    return found
