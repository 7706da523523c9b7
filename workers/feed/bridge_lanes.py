"""Lanes: the partitions of a foreign topic, passed on about abreast in event time; pure.

Whoever filled the topic spread one subject's records over its partitions. A backlog of which one partition is read far
ahead of the others would make theirs late (I10), as with files (`workers.feed.turns`). So what was read ahead is held,
until those that are behind have come as far; a partition that has nothing more holds nobody back.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engines.log import TopicPartition
from workers.feed.bridge_reading import Held
from workers.feed.turns import ABREAST

WAIT_SECONDS = 2.0
"""A partition that is behind and delivers nothing (its broker is down, or what is left of it are a transaction's marks)
is waited for no longer."""
HELD_BYTES = 2 * 1024 * 1024
"""A partition of which so much is held is not read further until half of it has gone."""


@dataclass
class Lane:
    """A partition. `next`: up to which offset it was read, `end`: its end as far as known, None of both: not known yet.
    `clock`: the newest event time passed on."""

    held: deque[Held] = field(default_factory=deque)
    size: int = 0
    next: int | None = None
    end: int | None = None
    clock: int | None = None
    delivered: bool = False
    blocks_since: float | None = None
    silent: bool = False

    @property
    def behind(self) -> bool:
        """Whether there may be more of it that somebody should wait for."""
        return not self.held and not self.silent and (self.next is None or self.end is None or self.next < self.end)

    @property
    def bound(self) -> float:
        """Up to which event time the others may go while it is behind."""
        if not self.delivered:
            return -math.inf
        # as with files: what has no times waits for nobody, and nobody waits for it
        return math.inf if self.clock is None else self.clock + ABREAST


class Lanes:
    """The partitions that a bridge owns."""

    def __init__(self) -> None:
        self._lanes: dict[TopicPartition, Lane] = {}
        self._full: set[TopicPartition] = set()

    def __len__(self) -> int:
        return len(self._lanes)

    @property
    def unread(self) -> bool:
        """Whether of one of them it is not known yet how far it was read."""
        return any(lane.next is None for lane in self._lanes.values())

    def add(self, partitions: Sequence[TopicPartition]) -> None:
        """These are owned from now on."""
        self._lanes |= {at: Lane() for at in partitions}

    def drop(self, partitions: Sequence[TopicPartition]) -> None:
        """These are not any more: what is held of them is another's to read again."""
        for at in partitions:
            self._lanes.pop(at, None)
            self._full.discard(at)

    def clear(self) -> None:
        """None is."""
        self.drop(list(self._lanes))

    def take(self, at: TopicPartition, records: Sequence[Held], next_offset: int) -> None:
        """What was read of a partition."""
        lane = self._lanes.setdefault(at, Lane())
        lane.held.extend(records)
        lane.size += sum(one.size for one in records)
        lane.next = next_offset
        lane.delivered, lane.silent, lane.blocks_since = True, False, None

    def ends(self, ends: Mapping[int, int], reached: Mapping[int, int]) -> None:
        """By partition: where it ends, and how far its group is, where nothing was read of it yet."""
        for at, lane in self._lanes.items():
            lane.end = ends.get(at.partition)
            if lane.next is None:
                lane.next = reached.get(at.partition)

    def due(self, now: float) -> Iterator[tuple[TopicPartition, Held]]:
        """Lets go of what may be passed on now (`now`: seconds of the monotonic clock): in the order of event time, and
        of each partition in its own."""
        for lane in self._lanes.values():
            lane.silent = lane.silent or (lane.blocks_since is not None and now - lane.blocks_since >= WAIT_SECONDS)
        bound = min((lane.bound for lane in self._lanes.values() if lane.behind), default=math.inf)
        waiting = [(_time(lane.held[0]), at) for at, lane in self._lanes.items() if lane.held]
        heapq.heapify(waiting)
        while waiting and waiting[0][0] <= bound:
            _, at = waiting[0]
            lane = self._lanes[at]
            yield at, self._next(lane)
            if lane.held:
                heapq.heapreplace(waiting, (_time(lane.held[0]), at))
            else:
                heapq.heappop(waiting)
                bound = min(bound, lane.bound) if lane.behind else bound
        for lane in self._lanes.values():
            lane.blocks_since = (lane.blocks_since or now) if waiting and lane.behind else None

    def done(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """Below which offsets everything was passed on."""
        lanes = ((at, self._lanes[at]) for at in partitions)
        return {at: lane.held[0].offset if lane.held else lane.next for at, lane in lanes if lane.next is not None}

    def full(self) -> tuple[set[TopicPartition], set[TopicPartition]]:
        """Which partitions are not to be read further for now, and which are again, since it was asked last."""
        much = {at for at, lane in self._lanes.items() if lane.size > HELD_BYTES}
        little = {at for at in self._full if self._lanes[at].size <= HELD_BYTES // 2}
        new = much - self._full
        self._full = (self._full | new) - little
        return new, little

    def _next(self, lane: Lane) -> Held:
        one = lane.held.popleft()
        lane.size -= one.size
        if one.time is not None:
            lane.clock = one.time if lane.clock is None else max(lane.clock, one.time)
        return one


def _time(one: Held) -> float:
    return -math.inf if one.time is None else one.time
