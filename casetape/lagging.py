"""What the services of a home have still to handle, by consumer group and partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from casetape.services.starting import GROUP, MANIFESTS
from engines.engine import Engine
from engines.log import EventLog, TopicPartition
from engines.topics import OBSERVATIONS, VERSIONS
from merge.tape import MERGER

READERS: Mapping[str, Sequence[str]] = {OBSERVATIONS: (GROUP,), VERSIONS: (MERGER,)}
"""By topic: the consumer groups that must have handled its records before these may go."""


class Position(NamedTuple):
    """Where a group stands in a partition: the oldest record kept is at `start`, the next written gets `end`; all below
    `committed` is handled for good, all below `done` is handled and saved by the group's own snapshots. `oldest` is the
    log's time of the first record that is not done, microseconds, or None."""

    group: str
    at: TopicPartition
    start: int
    end: int
    committed: int
    done: int
    oldest: int | None

    @property
    def lag(self) -> int:
        """How many records kept are not committed: max(0, end - max(committed, start))."""
        return max(0, self.end - max(self.committed, self.start))

    @property
    def waiting(self) -> int:
        """How many records kept are not done."""
        return max(0, self.end - max(self.done, self.start))


def positions(engine: Engine) -> list[Position]:
    """Of every group and partition, by group and partition; none of a topic that was not made yet. The ends are read
    last: what is done can then never lie beyond them."""
    saved = {int(name.removeprefix(MANIFESTS)): one.offset for name, one in engine.store.manifests(MANIFESTS).items()}
    found = []
    for topic, groups in READERS.items():
        for group in groups:
            committed = engine.log.committed(group, topic)
            starts, ends = engine.log.start_offsets(topic), engine.log.end_offsets(topic)
            for partition in sorted(ends):
                at, handled = TopicPartition(topic, partition), committed.get(partition, 0)
                done = max(handled, saved.get(partition, 0)) if group == GROUP else handled
                oldest = _oldest(engine.log, at, max(done, starts[partition]), ends[partition])
                found.append(Position(group, at, starts[partition], ends[partition], handled, done, oldest))
    return found


def _oldest(log: EventLog, at: TopicPartition, start: int, end: int) -> int | None:
    records = log.read(at, start, 1) if start < end else ()
    return records[0].appended_at if records else None
