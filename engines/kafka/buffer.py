"""What a member has fetched and not delivered yet. Pure.

The client hands out one partition's fetch after the other, so that a full partition would hold up the rest; here they
take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from engines.log import Batch, LogRecord, TopicPartition


class _Fetched(NamedTuple):
    """Records as the client has them, of which those before `place` are delivered; `end`: where to read on."""

    records: Sequence[Any]
    place: int
    end: int


class Buffer:
    """By partition, records in order. `convert` makes the port's records of the client's."""

    def __init__(self, convert: Callable[[Sequence[Any]], Sequence[LogRecord]]) -> None:
        self._convert = convert
        self._held: dict[TopicPartition, list[_Fetched]] = {}
        self._turn = 0

    def add(self, at: TopicPartition, records: Sequence[Any], end: int) -> None:
        """Keeps records that follow those kept before; `end`: the offset after them, gaps stepped over."""
        self._held.setdefault(at, []).append(_Fetched(records, 0, end))

    def drop(self, at: TopicPartition) -> None:
        """Forgets what it holds of a partition."""
        self._held.pop(at, None)

    def holds(self, at: TopicPartition) -> bool:
        """Whether anything of the partition waits."""
        return at in self._held

    def count(self, without: Collection[TopicPartition] = ()) -> int:
        """How many records wait, but for those of the partitions `without`."""
        return sum(len(one.records) - one.place for at, held in self._held.items() if at not in without for one in held)

    def take(self, limit: int, without: Collection[TopicPartition] = ()) -> list[Batch]:
        """At most `limit` records, beginning with another partition each time; none of the partitions `without`."""
        ready = sorted(at for at in self._held if at not in without)
        if not ready:
            return []
        self._turn += 1
        turn = self._turn % len(ready)
        batches = []
        for at in ready[turn:] + ready[:turn]:
            if limit <= 0:
                break
            batch = self._of(at, limit)
            limit -= len(batch.records)
            batches.append(batch)
        return batches

    def _of(self, at: TopicPartition, limit: int) -> Batch:
        held = self._held[at]
        found: list[Any] = []
        end = 0
        while held and len(found) < limit:
            records, place, end = held[0]
            upto = min(len(records), place + limit - len(found))
            found += records[place:upto]
            if upto < len(records):
                held[0] = _Fetched(records, upto, end)
                end = found[-1].offset + 1
            else:
                held.pop(0)
        if not held:
            del self._held[at]
        return Batch(at, self._convert(found), end)
