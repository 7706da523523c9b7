"""Retention: what a topic no longer keeps, by the log's own time of the append and by the bytes stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engines.log import EventLog, TopicPartition


class Bounds(NamedTuple):
    """What a topic keeps: records appended at or after `since` (microseconds; None: however old), and at most `size`
    bytes as stored (None: however many)."""

    since: int | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What went, as a number of records by partition; `held`: likewise, how many are beyond the bounds and have still
    to be handled; `more`: whether there is more to go than was asked for in one step."""

    gone: Mapping[int, int] = field(default_factory=dict)
    held: Mapping[int, int] = field(default_factory=dict)
    more: bool = False


def trim(log: EventLog, topic: str, bounds: Bounds, groups: Sequence[str], *, step: int | None = None) -> Trimmed:
    """Trims a topic to its bounds, but no record that one of these groups has still to handle: a slow reader costs
    room, never evidence. The oldest of a partition go first; where there are too many bytes, the largest partitions
    give, down to a level that all then keep within. `step`: about how many bytes to remove of each partition at most.
    """
    starts, ends, stored = log.start_offsets(topic), log.end_offsets(topic), log.stored_bytes(topic)
    handled = [log.committed(group, topic) for group in groups]
    most = None if bounds.size is None else level(list(stored.values()), bounds.size)
    gone: dict[int, int] = {}
    held: dict[int, int] = {}
    more = False
    for partition, start in starts.items():
        at, end = TopicPartition(topic, partition), ends[partition]
        limit = min([end, *(committed.get(partition, start) for committed in handled)])
        target = start
        if most is not None and stored[partition] > most:
            target = log.newest_within(at, most)
        if bounds.since is not None:
            target = max(target, _first_since(log, at, start, end, bounds.since))
        if target > limit:
            held[partition] = target - max(limit, start)
        to = min(target, limit)
        if step is not None and to > start:
            near = max(start + 1, log.newest_within(at, max(0, stored[partition] - step)))
            more = more or near < to
            to = min(to, near)
        if to > start:
            gone[partition] = to - start
        # also where nothing is to go: a kill may have left what nobody sees any more
        log.trim(at, max(to, start))
    return Trimmed(gone, held, more)


def level(sizes: Sequence[int], total: int) -> int:
    """The greatest level such that the sizes, each cut down to it, add up to `total` at most; none is cut where they
    do so already."""
    left, above = total, sorted(sizes)
    for place, size in enumerate(above):
        share = left // (len(above) - place)
        if size > share:
            return share
        left -= size
    return max(above, default=0)


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
