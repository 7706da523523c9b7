"""Reading records back, without any group."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaConsumer
from kafka.errors import KafkaError, OffsetOutOfRangeError
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.connection import Connection
from engines.kafka.faults import passing, translated
from engines.log import LogRecord
from schemas.errors import EngineUnavailable

MANY_BYTES, FEW_BYTES = 1024 * 1024, 64 * 1024
"""What one request asks for of a partition: reading on, and picking single records, which a large answer would slow."""
_WAIT_MS = 200
_FETCH_WAIT_MS = 50
_AT_ONCE = 1_000


def to_records(found: Sequence[Any]) -> list[LogRecord]:
    """The client's records as the port's. A foreign producer may have left out the key, or written one that is no
    text, or no value: none of them stops a reader."""
    try:
        return list(
            map(
                LogRecord,
                [one.offset for one in found],
                [one.key.decode() for one in found],
                [one.value or b"" for one in found],
                [one.timestamp * 1_000 for one in found],
            )
        )
    except (AttributeError, UnicodeDecodeError):
        return [LogRecord(one.offset, _key(one.key), one.value or b"", one.timestamp * 1_000) for one in found]


def _key(raw: bytes | None) -> str:
    try:
        return "" if raw is None else raw.decode()
    except UnicodeDecodeError:
        return ""


class Reader:
    """A client that reads partitions from anywhere, kept open. `size`: bytes of a partition that a request asks for."""

    def __init__(self, connection: Connection, size: int) -> None:
        self._connection = connection
        self._size = size
        self._client: KafkaConsumer | None = None
        self._at: KafkaPartition | None = None
        self._position = -1

    def read(self, at: KafkaPartition, start: int, limit: int) -> list[LogRecord]:
        """Up to `limit` records from offset `start` on, or from the oldest kept."""
        found: list[Any] = []
        end = self._end(at)
        while len(found) < limit and start < end:
            some, start = self._some(at, start, end, min(_AT_ONCE, limit - len(found)))
            found += some
        return to_records(found)

    def pick(self, at: KafkaPartition, offsets: Sequence[int]) -> Mapping[int, LogRecord]:
        """The records at these offsets, as far as there are any."""
        wanted = sorted({offset for offset in offsets if offset >= 0})
        found: list[Any] = []
        end = self._end(at) if wanted else 0
        while wanted and wanted[0] < end:
            some, after = self._some(at, wanted[0], end, _AT_ONCE)
            here = set(wanted)
            found += [one for one in some if one.offset in here]
            wanted = [offset for offset in wanted if offset >= after]
        return {record.offset: record for record in to_records(found)}

    def _some(self, at: KafkaPartition, start: int, end: int, limit: int) -> tuple[list[Any], int]:
        """Some records from `start` on, and where to read on: none, and `end` or beyond, where there are none."""
        what, until = f"read topic `{at.topic}`", time.monotonic() + self._connection.options.append_seconds
        client = self._go(at, start)
        while True:
            try:
                records = client.poll(timeout_ms=_WAIT_MS, max_records=limit).get(at, [])
                after = client.position(at, timeout_ms=_WAIT_MS)
            except OffsetOutOfRangeError:
                # trimmed, or not there yet
                oldest = self._oldest(at)
                if start >= oldest:
                    return [], end
                start = oldest
                client = self._go(at, start)
                continue
            except KafkaError as error:
                self._position = -1
                if not passing(error) or time.monotonic() > until:
                    raise translated(error, self._connection.options, what) from error
                time.sleep(_WAIT_MS / 1_000)
                client = self._go(at, start)
                continue
            if records or (after is not None and after >= end):
                self._position = max(after or 0, records[-1].offset + 1 if records else 0)
                return records, self._position
            if time.monotonic() > until:
                self._position = -1
                raise EngineUnavailable(
                    f"could not {what}: Kafka at {self._connection.options.servers} sends nothing; try again"
                )

    def _go(self, at: KafkaPartition, start: int) -> KafkaConsumer:
        client = self._open()
        if at != self._at:
            client.assign([at])
            self._at, self._position = at, -1
        if start != self._position:
            client.seek(at, start)
            self._position = start
        return client

    def _oldest(self, at: KafkaPartition) -> int:
        client = self._open()
        milliseconds = client.config["request_timeout_ms"]
        oldest: int = self._connection.tried(
            f"read the offsets of topic `{at.topic}`",
            lambda: client.beginning_offsets([at], timeout_ms=milliseconds)[at],
        )
        return oldest

    def _end(self, at: KafkaPartition) -> int:
        client = self._open()
        milliseconds = client.config["request_timeout_ms"]
        end: int = self._connection.tried(
            f"read the offsets of topic `{at.topic}`", lambda: client.end_offsets([at], timeout_ms=milliseconds)[at]
        )
        return end

    def _open(self) -> KafkaConsumer:
        if self._client is None:
            self._client = self._connection.opened(
                lambda: KafkaConsumer(
                    **self._connection.settings(),
                    enable_auto_commit=False,
                    auto_offset_reset="none",
                    isolation_level="read_committed",
                    allow_auto_create_topics=False,
                    max_partition_fetch_bytes=self._size,
                    fetch_max_wait_ms=_FETCH_WAIT_MS,
                    metrics_enabled=False,
                )
            )
        return self._client

    def close(self) -> None:
        """Lets go of the client."""
        client, self._client, self._at = self._client, None, None
        if client is not None:
            with suppress(KafkaError):
                client.close(timeout_ms=1_000)
