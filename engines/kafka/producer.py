"""Appending: an idempotent producer that is thrown away whenever it has failed.

kafka-python's idempotent producer is of no more use once a batch of it has timed out: later sends hang, and it cannot
be closed. So an append waits with a deadline of its own, and after any failure the next one opens another producer.
What the old one had sent is in doubt, and repeated by whoever appends again (I4).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaProducer
from kafka.errors import DuplicateSequenceNumberError, KafkaError, KafkaTimeoutError

from engines.kafka.connection import Connection
from engines.kafka.faults import translated
from engines.kafka.topic import BATCH_ROOM, Topic
from engines.log import NewRecord
from engines.partitioner import partition_of
from engines.topics import RECORD_LIMIT
from schemas.errors import EngineUnavailable

_BATCH_BYTES = 256 * 1024
_LINGER_MS = 20
"""So long a batch may wait for more of the same append, whose end sends what is left at once."""
_CLOSE_SECONDS = 5.0


class Producer:
    """One producer at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._current: KafkaProducer | None = None

    def append(self, topic: Topic, records: Sequence[NewRecord]) -> list[Any]:
        """Sends all, and waits until all are acknowledged: their futures, done and without an error. Raises
        EngineUnavailable where that takes longer than `append_seconds`."""
        what, seconds = f"append to topic `{topic.full}`", self._connection.options.append_seconds
        until = time.monotonic() + seconds
        producer = self._open()
        try:
            send, name, partitions = producer.send, topic.full, topic.partitions
            futures = [
                send(name, value=value, key=key.encode(), partition=partition_of(key, partitions))
                for key, value in records
            ]
            producer.flush(max(0.0, until - time.monotonic()))
            for future in futures:
                if not future.is_done:
                    future.get(max(0.0, until - time.monotonic()))
                if future.exception is not None and not isinstance(future.exception, DuplicateSequenceNumberError):
                    raise future.exception
        except KafkaTimeoutError as error:
            raise EngineUnavailable(
                f"Kafka at {self._connection.options.servers} did not acknowledge the append to `{topic.full}` within"
                f" {seconds:g} seconds; some of it may have been appended. Append it again"
            ) from error
        except KafkaError as error:
            raise translated(error, self._connection.options, what) from error
        else:
            producer = None
        finally:
            if producer is not None:
                self._throw_away()
        return futures

    def _open(self) -> KafkaProducer:
        if self._current is None:
            milliseconds = int(self._connection.options.append_seconds * 1_000)
            settings = self._connection.settings()
            settings["request_timeout_ms"] = min(settings["request_timeout_ms"], max(1, milliseconds - _LINGER_MS))
            self._current = self._connection.opened(
                lambda: KafkaProducer(
                    **settings,
                    enable_idempotence=True,
                    acks="all",
                    compression_type="zstd",
                    linger_ms=_LINGER_MS,
                    batch_size=_BATCH_BYTES,
                    max_request_size=RECORD_LIMIT + BATCH_ROOM,
                    max_block_ms=milliseconds,
                    delivery_timeout_ms=milliseconds,
                    allow_auto_create_topics=False,
                    metrics_enabled=False,
                )
            )
        return self._current

    def _throw_away(self) -> None:
        producer, self._current = self._current, None
        if producer is not None:
            threading.Thread(target=_stop, args=(producer,), name="casetape-producer-stop", daemon=True).start()

    def close(self) -> None:
        """Closes the producer; all it was given is acknowledged by now."""
        producer, self._current = self._current, None
        if producer is not None:
            try:
                producer.close(timeout=_CLOSE_SECONDS)
            except KafkaError:
                _stop(producer)


def _stop(producer: KafkaProducer) -> None:
    # `close` gives up before it stops the sender, where a batch is still under way
    producer._sender.force_close()
    with suppress(KafkaError):
        producer.close(timeout=0)
