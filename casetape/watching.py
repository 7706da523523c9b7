"""Who makes no progress though there is work: a process that is alive may be consuming nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from casetape.lagging import Position
from engines.log import TopicPartition


class Stuck(NamedTuple):
    """A partition on which a group has handled nothing for `seconds`, while `waiting` records wait."""

    group: str
    at: TopicPartition
    waiting: int
    seconds: float


class Watch:
    """Remembers since when each partition stands where it stands."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._since: dict[tuple[str, TopicPartition], tuple[int, float]] = {}

    def look(self, now: float, positions: Iterable[Position]) -> list[Stuck]:
        """What has been stuck for longer than the limit. `now` in seconds, on a clock that only goes on."""
        stuck = []
        for one in positions:
            done, since = self._since.get((one.group, one.at), (one.done, now))
            if one.done != done or not one.waiting:
                since = now
            self._since[one.group, one.at] = one.done, since
            if now - since > self.limit:
                stuck.append(Stuck(one.group, one.at, one.waiting, now - since))
        return stuck
