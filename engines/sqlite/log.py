"""EventLog on SQLite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from engines.checks import check_records
from engines.failpoints import fail_point
from engines.log import Consumer, Handover, LogRecord, NewRecord, TopicPartition
from engines.partitioner import partition_of
from engines.sqlite.batch import Packed, frame, pack, split
from engines.sqlite.connection import Database
from engines.sqlite.consumer import Member
from engines.sqlite.reading import Reader, pick
from engines.sqlite.topic import Topic, Topics
from schemas.errors import EngineError, UnknownTopic

_TRIMMED_AT_ONCE = 256
_BELOW_START = """
SELECT b.rowid FROM batches b JOIN partitions p ON p.topic_id = b.topic_id AND p.partition = b.partition
WHERE b.topic_id = ? AND b.partition = ? AND b.base_offset + b.count <= p.start_offset
AND b.base_offset < p.start_offset ORDER BY b.base_offset LIMIT ?
"""
_DROP = f"DELETE FROM batches WHERE rowid IN ({_BELOW_START}) RETURNING length(body)"  # noqa: S608 - constants
_FROM_THE_OLDEST = """
SELECT base_offset, length(body) FROM batches WHERE topic_id = ? AND partition = ? ORDER BY base_offset
"""


class _Framed(NamedTuple):
    partition: int
    length: int
    packed: Packed


class SqliteLog:
    """The tape in one file. `clock` tells seconds since 1970, for the time of appends and for leases."""

    def __init__(self, database: Database, session_seconds: float, clock: Callable[[], float]) -> None:
        self._database = database
        self._session = session_seconds
        self._clock = clock
        self._topics = Topics(database)

    def create_topic(self, topic: str, partitions: int) -> None:
        self._topics.create(topic, partitions)

    def partitions(self, topic: str) -> int:
        return self._topics.get(topic).partitions

    def append(self, topic: str, records: Sequence[NewRecord]) -> None:
        self._append(self._topics.get(topic), records)

    def append_placed(self, topic: str, records: Sequence[NewRecord]) -> Sequence[int]:
        at = self._topics.get(topic)
        following = self._append(at, records)
        places = []
        for record in records:
            partition = partition_of(record.key, at.partitions)
            places.append(following[partition])
            following[partition] += 1
        return places

    def _append(self, at: Topic, records: Sequence[NewRecord]) -> dict[int, int]:
        """Appends, and says by partition where the first of its records lies; the others follow it."""
        check_records(at.name, records)
        framed = _frames(at, records)
        first: dict[int, int] = {}
        if not framed:
            return first
        now = int(self._clock() * 1_000_000)
        with self._database.writing() as connection:
            for partition, count, (codec, body) in framed:
                (end,) = connection.execute(
                    "UPDATE partitions SET next_offset = next_offset + ?, bytes = bytes + ?"
                    " WHERE topic_id = ? AND partition = ? RETURNING next_offset",
                    (count, len(body), at.id, partition),
                ).fetchone()
                first.setdefault(partition, end - count)
                connection.execute(
                    "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (at.id, partition, end - count, count, now, codec, body),
                )
        return first

    def consumer(
        self, group: str, topics: Sequence[str], *, on_assign: Handover | None = None, on_revoke: Handover | None = None
    ) -> Consumer:
        found = [self._topics.get(topic) for topic in topics]
        return Member(self._database, group, found, self._session, self._clock, on_assign, on_revoke)

    def read(self, at: TopicPartition, start: int, limit: int) -> Sequence[LogRecord]:
        topic = self._at(at)
        oldest, _ = self._bounds((topic.id, at.partition))
        return Reader(self._database).read(topic.id, at.partition, max(start, oldest), limit)

    def fetch(self, at: TopicPartition, offsets: Sequence[int]) -> Mapping[int, LogRecord]:
        topic = self._at(at)
        oldest, _ = self._bounds((topic.id, at.partition))
        return pick(self._database, topic.id, at.partition, [offset for offset in offsets if offset >= oldest])

    def start_offsets(self, topic: str) -> Mapping[int, int]:
        return dict(
            self._database.rows(
                "SELECT partition, start_offset FROM partitions WHERE topic_id = ?", (self._topics.get(topic).id,)
            )
        )

    def end_offsets(self, topic: str) -> Mapping[int, int]:
        return dict(
            self._database.rows(
                "SELECT partition, next_offset FROM partitions WHERE topic_id = ?", (self._topics.get(topic).id,)
            )
        )

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        return dict(
            self._database.rows(
                "SELECT partition, committed FROM shares WHERE topic_id = ? AND committed IS NOT NULL"
                " AND group_id = (SELECT id FROM groups WHERE name = ?)",
                (self._topics.get(topic).id, group),
            )
        )

    def groups(self) -> Sequence[str]:
        return [name for (name,) in self._database.rows("SELECT name FROM groups ORDER BY name")]

    def forget_group(self, group: str) -> None:
        if self.members(group):
            raise EngineError(f"group {group} has members: stop them first")
        with self._database.writing() as connection:
            for table in ("shares", "members"):
                connection.execute(
                    f"DELETE FROM {table} WHERE group_id = (SELECT id FROM groups WHERE name = ?)",  # noqa: S608 - one of two names
                    (group,),
                )
            connection.execute("DELETE FROM groups WHERE name = ?", (group,))

    def members(self, group: str) -> int:
        (count,) = self._database.row(
            "SELECT count(*) FROM members WHERE lease_until >= ? AND group_id = (SELECT id FROM groups WHERE name = ?)",
            (int(self._clock() * 1_000_000), group),
        )
        return int(count)

    def trim(self, at: TopicPartition, offset: int) -> None:
        topic = self._at(at)
        where = (topic.id, at.partition)
        if self._bounds(where)[0] < offset:
            with self._database.writing() as connection:
                connection.execute(
                    "UPDATE partitions SET start_offset = min(max(start_offset, ?), next_offset)"
                    " WHERE topic_id = ? AND partition = ?",
                    (offset, *where),
                )
        # nobody sees these any more, so that they may go in steps that do not hold up writers
        while self._database.row(_BELOW_START, (*where, 1)) is not None:
            self._drop_below_start(where)
            fail_point("log.trimming")

    def stored_bytes(self, topic: str) -> Mapping[int, int]:
        return dict(
            self._database.rows(
                "SELECT partition, bytes FROM partitions WHERE topic_id = ?", (self._topics.get(topic).id,)
            )
        )

    def newest_within(self, at: TopicPartition, size: int) -> int:
        topic = self._at(at)
        where = (topic.id, at.partition)
        kept, end = self._database.row(
            "SELECT bytes, next_offset FROM partitions WHERE topic_id = ? AND partition = ?", where
        )
        with closing(self._database.each(_FROM_THE_OLDEST, where)) as batches:
            for base, length in batches:
                if kept <= size:
                    return int(base)
                kept -= length
        return int(end)

    def _drop_below_start(self, where: tuple[int, int]) -> None:
        with self._database.writing() as connection:
            gone = connection.execute(_DROP, (*where, _TRIMMED_AT_ONCE)).fetchall()
            connection.execute(
                "UPDATE partitions SET bytes = bytes - ? WHERE topic_id = ? AND partition = ?",
                (sum(length for (length,) in gone), *where),
            )

    def _bounds(self, where: tuple[int, int]) -> tuple[int, int]:
        """The oldest offset kept, and the next to be written."""
        start, end = self._database.row(
            "SELECT start_offset, next_offset FROM partitions WHERE topic_id = ? AND partition = ?", where
        )
        return start, end

    def _at(self, at: TopicPartition) -> Topic:
        topic = self._topics.get(at.topic)
        if not 0 <= at.partition < topic.partitions:
            raise UnknownTopic(f"topic `{at.topic}` has {topic.partitions} partitions, and no number {at.partition}")
        return topic

    def close(self) -> None:
        self._database.close()


def _frames(topic: Topic, records: Sequence[NewRecord]) -> list[_Framed]:
    """Framed and compressed before the transaction begins, so that it stays short."""
    by_partition: defaultdict[int, list[NewRecord]] = defaultdict(list)
    for record in records:
        by_partition[partition_of(record.key, topic.partitions)].append(record)
    return [
        _Framed(partition, len(part), pack(frame(part)))
        for partition, group in sorted(by_partition.items())
        for part in split(group)
    ]
