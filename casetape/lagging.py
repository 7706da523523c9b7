"""What the services of a home have still to handle, by consumer group and partition."""

from __future__ import annotations

from typing import NamedTuple

from casetape.services.starting import GROUP
from engines.engine import Engine
from engines.log import EventLog, TopicPartition
from engines.topics import OBSERVATIONS, VERSIONS
from merge.tape import MERGER
from workers.detection.snapshot import owner_of

DETECT_GROUPS = "detect-"
"""The names of the groups of all detector sets begin with this."""
DETECT = "detect/"
"""The names of the manifests of all detector sets begin with this."""


def readers(engine: Engine) -> dict[str, tuple[str, ...]]:
    """By topic: the consumer groups that must have handled its records before these may go. Every detector set that
    has ever read is one; where none has, the one that will."""
    owners = engine.store.manifests(DETECT)
    groups = {owner.removeprefix(DETECT).split("/")[0] for owner in owners if owner.count("/") == 3}
    # a store that was made anew knows none of them until they save
    groups |= {group for group in engine.log.groups() if group.startswith(DETECT_GROUPS)}
    return {OBSERVATIONS: tuple(sorted(groups)) or (GROUP,), VERSIONS: (MERGER,)}


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
    return [
        one
        for topic, groups in readers(engine).items()
        for group in groups
        for one in positions_of(engine, group, topic)
    ]


def positions_of(engine: Engine, group: str, topic: str) -> list[Position]:
    """Of one group in one topic, by partition. Raises UnknownTopic."""
    saved = engine.store.manifests(f"{DETECT}{group}/{topic}/")
    committed = engine.log.committed(group, topic)
    starts, ends = engine.log.start_offsets(topic), engine.log.end_offsets(topic)
    found = []
    for partition in sorted(ends):
        at, handled = TopicPartition(topic, partition), committed.get(partition, 0)
        manifest = saved.get(owner_of(group, at))
        done = handled if manifest is None else max(handled, manifest.offset)
        oldest = _oldest(engine.log, at, max(done, starts[partition]), ends[partition])
        found.append(Position(group, at, starts[partition], ends[partition], handled, done, oldest))
    return found


def _oldest(log: EventLog, at: TopicPartition, start: int, end: int) -> int | None:
    records = log.read(at, start, 1) if start < end else ()
    return records[0].appended_at if records else None
