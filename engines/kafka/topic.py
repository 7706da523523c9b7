"""Topics: made once, their partitions never changed, so that what was read of them stays true."""

from __future__ import annotations

from typing import NamedTuple

from kafka.errors import InvalidReplicationFactorError, TopicAlreadyExistsError, UnknownTopicOrPartitionError

from engines.kafka.connection import Connection
from engines.topics import RECORD_LIMIT
from schemas.errors import EngineError, UnknownTopic, UsageError

BATCH_ROOM = 64 * 1024
"""What a batch needs beside its records: its own head, and what compression adds to what it cannot make smaller."""
_SEGMENT_BYTES = 64 * 1024 * 1024
"""A broker frees the room of deleted records by whole segments."""


class Topic(NamedTuple):
    """A topic: `name` as casetape knows it, `full` as the brokers do."""

    name: str
    full: str
    partitions: int


class Topics:
    """The topics of one prefix, by name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, Topic] = {}

    def get(self, name: str) -> Topic:
        """The topic. Raises UnknownTopic."""
        known = self._known.get(name)
        if known is None:
            found = self._find(name)
            if found is None:
                raise UnknownTopic(
                    f"there is no topic `{self._connection.topic(name)}` in Kafka at {self._connection.options.servers}"
                )
            known = self._known[name] = found
        return known

    def create(self, name: str, partitions: int) -> None:
        """Makes the topic where it is missing. Raises EngineError where it has another number of partitions."""
        if partitions < 1:
            raise UsageError(f"topic `{name}` needs at least one partition, not {partitions}")
        found = self._find(name)
        if found is None:
            self._make(name, partitions)
            found = self.get(name)
        if found.partitions != partitions:
            raise EngineError(
                f"topic `{name}` has {found.partitions} partitions, not {partitions}; they cannot be changed"
            )

    def _find(self, name: str) -> Topic | None:
        full = self._connection.topic(name)
        (found,) = self._connection.call(f"look up topic `{full}`", lambda admin: admin.describe_topics([full]))
        if found["error_code"] == UnknownTopicOrPartitionError.errno or not found["partitions"]:
            return None
        return Topic(name, full, len(found["partitions"]))

    def _make(self, name: str, partitions: int) -> None:
        full, copies = self._connection.topic(name), self._connection.options.replication
        settings = {
            "cleanup.policy": "delete",
            # casetape looks after the bounds itself, so that no group loses what it has still to handle
            "retention.ms": "-1",
            "retention.bytes": "-1",
            "message.timestamp.type": "LogAppendTime",
            "max.message.bytes": str(RECORD_LIMIT + BATCH_ROOM),
            "segment.bytes": str(_SEGMENT_BYTES),
            # an append is durable when two copies have it, where there are two
            "min.insync.replicas": str(min(2, copies)),
        }
        wanted = {full: {"num_partitions": partitions, "replication_factor": copies, "configs": settings}}
        try:
            self._connection.call(f"make topic `{full}`", lambda admin: admin.create_topics(wanted))
        except EngineError as error:
            if isinstance(error.__cause__, InvalidReplicationFactorError):
                raise EngineError(
                    f"topic `{full}` cannot have {copies} copies: there are fewer brokers; lower `kafka.replication`"
                ) from error
            # another process was first
            if not isinstance(error.__cause__, TopicAlreadyExistsError):
                raise
        self._connection.call(f"wait for topic `{full}`", lambda admin: admin.wait_for_topics([full]))
