"""EventLog on Kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Thread
from weakref import WeakSet

from kafka.structs import TopicPartition as KafkaPartition

from engines.checks import check_records
from engines.checkup import Finding
from engines.failpoints import fail_point
from engines.kafka.checkup import look_over
from engines.kafka.connection import Connection
from engines.kafka.consumer import Member
from engines.kafka.deleting import delete_group
from engines.kafka.groups import Groups
from engines.kafka.producer import Producer
from engines.kafka.reading import FEW_BYTES, MANY_BYTES, Reader
from engines.kafka.sizes import Sizes
from engines.kafka.topic import Topic, Topics
from engines.log import Consumer, Handover, LogRecord, NewRecord, TopicPartition
from schemas.errors import EngineError, UnknownTopic


class KafkaLog:
    """The tape on a Kafka cluster, under the prefix of its options."""

    def __init__(self, connection: Connection, session_seconds: float) -> None:
        self._connection = connection
        self._session = session_seconds
        self._topics = Topics(connection)
        self._producer = Producer(connection)
        self._groups = Groups(connection)
        self._sizes = Sizes(connection)
        # one to read on, one to pick single records
        self._reader, self._picker = Reader(connection, MANY_BYTES), Reader(connection, FEW_BYTES)
        self._members: WeakSet[Member] = WeakSet()

    def create_topic(self, topic: str, partitions: int) -> None:
        self._topics.create(topic, partitions)

    def partitions(self, topic: str) -> int:
        return self._topics.get(topic).partitions

    def look_over(self) -> Sequence[Finding]:
        return list(look_over(self._connection))

    def groups(self) -> Sequence[str]:
        start = self._connection.group("")
        found = self._connection.call("list groups", lambda admin: admin.list_groups())
        return sorted(one["group_id"][len(start) :] for one in found if one["group_id"].startswith(start))

    def forget_group(self, group: str) -> None:
        if self.members(group):
            raise EngineError(f"group {group} has members: stop them first")
        delete_group(self._connection, self._connection.group(group))

    def members(self, group: str) -> int:
        full = self._connection.group(group)
        found = self._connection.call(f"look up group `{full}`", lambda admin: admin.describe_groups([full]))
        return len(found[full]["members"])

    def append(self, topic: str, records: Sequence[NewRecord]) -> None:
        at = self._topics.get(topic)
        check_records(topic, records)
        if records:
            self._producer.append(at, records)

    def append_placed(self, topic: str, records: Sequence[NewRecord]) -> Sequence[int]:
        at = self._topics.get(topic)
        check_records(topic, records)
        if not records:
            return []
        return [-1 if future.exception else future.value.offset for future in self._producer.append(at, records)]

    def consumer(
        self, group: str, topics: Sequence[str], *, on_assign: Handover | None = None, on_revoke: Handover | None = None
    ) -> Consumer:
        found = [self._topics.get(topic) for topic in topics]
        member = Member(self._connection, self._groups, group, found, self._session, on_assign, on_revoke)
        self._members.add(member)
        return member

    def read(self, at: TopicPartition, start: int, limit: int) -> Sequence[LogRecord]:
        return self._reader.read(self._at(at), max(0, start), limit)

    def fetch(self, at: TopicPartition, offsets: Sequence[int]) -> Mapping[int, LogRecord]:
        return self._picker.pick(self._at(at), offsets)

    def start_offsets(self, topic: str) -> Mapping[int, int]:
        found = self._groups.oldest(_all(self._topics.get(topic)))
        return {at.partition: offset for at, offset in sorted(found.items())}

    def end_offsets(self, topic: str) -> Mapping[int, int]:
        found = self._groups.ends(_all(self._topics.get(topic)))
        return {at.partition: offset for at, offset in sorted(found.items())}

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        found = self._groups.committed(self._connection.group(group), _all(self._topics.get(topic)))
        return {at.partition: offset for at, (offset, _) in sorted(found.items())}

    def trim(self, at: TopicPartition, offset: int) -> None:
        where = self._at(at)
        to = min(offset, self._groups.ends([where])[where])
        if to > self._groups.oldest([where])[where]:
            self._connection.call(f"trim topic `{where.topic}`", lambda admin: admin.delete_records({where: to}))
        fail_point("log.trimming")

    def stored_bytes(self, topic: str) -> Mapping[int, int]:
        at = self._topics.get(topic)
        segments = self._sizes.segments(at)
        starts, ends = self.start_offsets(topic), self.end_offsets(topic)
        return {p: self._sizes.kept(at, p, starts[p], ends[p], segments[p]) for p in sorted(segments)}

    def newest_within(self, at: TopicPartition, size: int) -> int:
        """By the average of the partition."""
        where, topic = self._at(at), self._topics.get(at.topic)
        start, end = self._groups.oldest([where])[where], self._groups.ends([where])[where]
        kept = self._sizes.kept(topic, at.partition, start, end, self._sizes.segments(topic)[at.partition])
        if kept <= size:
            return start
        return end - (end - start) * size // kept

    def _at(self, at: TopicPartition) -> KafkaPartition:
        topic = self._topics.get(at.topic)
        if not 0 <= at.partition < topic.partitions:
            raise UnknownTopic(f"topic `{at.topic}` has {topic.partitions} partitions, and no number {at.partition}")
        return KafkaPartition(topic.full, at.partition)

    def close(self) -> None:
        # whoever made them has closed them, or failed: their threads would keep the memberships alive. All at once, for
        # a broker hears of a leave only after the answer to a join, which may wait for the others
        leaving = [Thread(target=member.abandon, daemon=True) for member in self._members]
        for one in leaving:
            one.start()
        for one in leaving:
            one.join()
        self._producer.close()
        self._reader.close()
        self._picker.close()
        self._connection.close()


def _all(topic: Topic) -> list[KafkaPartition]:
    return [KafkaPartition(topic.full, partition) for partition in range(topic.partitions)]
