"""What a home holds, and what takes how much room in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engines.engine import Engine
from engines.log import EventLog, LogRecord, TopicPartition
from engines.sizes import Size, SpaceUse, StoreSizes
from engines.topics import ALL
from schemas.errors import UnknownTopic


@dataclass(frozen=True, slots=True)
class TopicUse:
    """The records of a topic that are kept, their bytes as stored, and when the oldest and the newest of them were
    appended (microseconds; None: there is none)."""

    topic: str
    records: int
    bytes: int
    oldest: int | None
    newest: int | None


@dataclass(frozen=True, slots=True)
class HomeUse:
    """What takes room. `windows`: parts of windows by the consumer group of their detectors; `other`: bytes of the
    data that are neither any of this nor free: indexes, ids, and what pages have to spare."""

    topics: tuple[TopicUse, ...]
    store: StoreSizes
    windows: Mapping[str, Size]
    space: SpaceUse | None
    other: int | None


def use_of(engine: Engine) -> HomeUse:
    """What takes room in the home of an engine that is open for reading. Costs what the number of cases, parts, notes
    and partitions costs, not that of records, versions and contents."""
    topics = tuple(found for topic in ALL if (found := _topic(engine.log, topic)) is not None)
    store = engine.store.sizes()
    space = None if engine.space is None else engine.space.use()
    sizes = [store.versions, store.remains, store.snapshots, *store.parts.values(), *store.notes.values()]
    named = sum(one.bytes for one in topics) + sum(one.bytes for one in sizes)
    other = None if space is None else space.data - space.free - named
    return HomeUse(topics, store, _by_group(store.parts), space, other)


def _topic(log: EventLog, topic: str) -> TopicUse | None:
    try:
        starts, ends, stored = log.start_offsets(topic), log.end_offsets(topic), log.stored_bytes(topic)
    except UnknownTopic:
        # nothing was ever fed: a home has all its topics from then on
        return None
    ats = [TopicPartition(topic, partition) for partition, end in ends.items() if starts[partition] < end]
    firsts = [_at(log, at, starts[at.partition]) for at in ats]
    lasts = [_at(log, at, ends[at.partition] - 1) for at in ats]
    return TopicUse(
        topic=topic,
        records=sum(ends[partition] - starts[partition] for partition in ends),
        bytes=sum(stored.values()),
        oldest=min((one.appended_at for one in firsts if one), default=None),
        newest=max((one.appended_at for one in lasts if one), default=None),
    )


def _at(log: EventLog, at: TopicPartition, offset: int) -> LogRecord | None:
    """The record at this offset, or the next one where it was trimmed just now."""
    found = log.read(at, offset, 1)
    return found[0] if found else None


def _by_group(parts: Mapping[str, Size]) -> dict[str, Size]:
    """Owners are called `detect/<group>/<topic>/<partition>`."""
    found: dict[str, Size] = {}
    for owner, size in parts.items():
        group = owner.split("/")[1] if owner.count("/") == 3 else owner
        before = found.get(group, Size(0, 0))
        found[group] = Size(before.count + size.count, before.bytes + size.bytes)
    return found
