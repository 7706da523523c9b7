"""Whether the brokers are there while nothing comes: a client that waits for records does not say."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.connection import Connection
from engines.kafka.faults import passing, translated
from schemas.errors import EngineUnavailable

_QUIET_SECONDS = 5.0
_ASK_SECONDS = 1.0


class Pulse:
    """Asks a question when nothing has come for a while. `partitions`: what it asks about."""

    def __init__(self, connection: Connection, client: KafkaConsumer, partitions: Sequence[KafkaPartition]) -> None:
        self._connection = connection
        self._client = client
        self._partitions = list(partitions)
        self._names = ", ".join(f"`{at.topic}`" for at in partitions)
        self._felt_at = self._asked_at = time.monotonic()

    def felt(self, something: bool) -> None:
        """Is told after each poll whether something came. Raises EngineUnavailable where nothing did for
        `append_seconds` and no broker answers, UnknownTopic where a topic is gone."""
        now = time.monotonic()
        if something:
            self._felt_at = self._asked_at = now
        longest = self._connection.options.append_seconds
        if now - self._asked_at < min(_QUIET_SECONDS, longest / 2):
            return
        try:
            self._client.beginning_offsets(self._partitions, timeout_ms=_ASK_SECONDS * 1_000)
        except KafkaError as error:
            if not passing(error):
                raise translated(error, self._connection.options, f"read topic {self._names}") from error
            self._asked_at = time.monotonic()
            if self._asked_at - self._felt_at > longest:
                self._felt_at = self._asked_at
                raise EngineUnavailable(
                    f"Kafka at {self._connection.options.servers} has not answered for {longest:g} seconds; try again"
                ) from error
        else:
            self._felt_at = self._asked_at = time.monotonic()
