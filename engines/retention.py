"""Retention: what a topic no longer keeps, by the log's own time of the append."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.log import EventLog, TopicPartition


def trim_older(log: EventLog, topic: str, before: int, groups: Sequence[str]) -> dict[int, int]:
    """Trims records of a topic that were appended before this time (microseconds), but none that one of these groups
    has still to handle: a slow reader costs room, never evidence. Returns by partition how many records went."""
    starts, ends = log.start_offsets(topic), log.end_offsets(topic)
    handled = [log.committed(group, topic) for group in groups]
    gone: dict[int, int] = {}
    for partition, start in starts.items():
        at = TopicPartition(topic, partition)
        limit = min([ends[partition], *(_done(committed, partition, start) for committed in handled)])
        end = _first_since(log, at, start, limit, before)
        if end > start:
            log.trim(at, end)
            gone[partition] = end - start
    return gone


def _done(committed: Mapping[int, int], partition: int, start: int) -> int:
    return committed.get(partition, start)


def _first_since(log: EventLog, at: TopicPartition, start: int, limit: int, time: int) -> int:
    """The first offset in [start, limit) whose record was appended at or after `time`, or `limit`: appends of one
    partition are in order of time, so a bisection finds it."""
    low, high = start, limit
    while low < high:
        middle = (low + high) // 2
        found = log.read(at, middle, 1)
        if found and found[0].appended_at < time:
            low = middle + 1
        else:
            high = middle
    return low
