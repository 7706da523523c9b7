"""Reading records back out of batches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import repeat
from typing import NamedTuple

from engines.log import LogRecord
from engines.sqlite.batch import unframe, unpack
from engines.sqlite.connection import Database
from schemas.errors import EngineError

_FROM = """
SELECT base_offset, count, appended_at, codec, body FROM batches
WHERE topic_id = ?1 AND partition = ?2 AND base_offset >= coalesce(
    (SELECT max(base_offset) FROM batches WHERE topic_id = ?1 AND partition = ?2 AND base_offset <= ?3), 0)
ORDER BY base_offset
"""
_HOLDING = """
SELECT base_offset, count, appended_at, codec, body FROM batches
WHERE topic_id = ?1 AND partition = ?2 AND base_offset <= ?3 ORDER BY base_offset DESC LIMIT 1
"""


class Stored(NamedTuple):
    """A row of `batches`."""

    base: int
    length: int
    appended_at: int
    codec: int
    body: bytes

    def records(self) -> list[LogRecord]:
        """All its records. Raises EngineError, with their offsets, where the batch is damaged."""
        with self._placed():
            keys, values = unframe(unpack(self.codec, self.body), self.length)
        offsets = range(self.base, self.base + self.length)
        return list(map(LogRecord, offsets, keys, values, repeat(self.appended_at)))

    def some(self, offsets: Sequence[int]) -> list[LogRecord]:
        """Its records at these offsets, which must be its own. Raises what `records` raises."""
        with self._placed():
            raw = unpack(self.codec, self.body)
            found = []
            for offset in offsets:
                inside = offset - self.base
                (key,), (value,) = unframe(raw, self.length, inside, inside + 1)
                found.append(LogRecord(offset, key, value, self.appended_at))
        return found

    @contextmanager
    def _placed(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            raise EngineError(f"records {self.base} up to {self.base + self.length - 1}: {error}") from error


class Reader:
    """Reads partitions in order, and keeps the batch that it stopped in, at most one a partition."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: dict[tuple[int, int], list[LogRecord]] = {}

    def read(
        self, topic_id: int, partition: int, start: int, limit: int, most_bytes: int | None = None
    ) -> list[LogRecord]:
        """Up to `limit` records from offset `start` on; no further batch once `most_bytes` (as stored) were read."""
        found: list[LogRecord] = []
        for records in self._runs(topic_id, partition, start, most_bytes):
            skip = max(0, start - records[0].offset)
            found += records[skip : skip + limit - len(found)]
            if len(found) >= limit:
                if found and found[-1].offset < records[-1].offset:
                    self._open[topic_id, partition] = records
                break
        return found

    def _runs(self, topic_id: int, partition: int, start: int, most_bytes: int | None) -> Iterator[list[LogRecord]]:
        kept = self._open.pop((topic_id, partition), None)
        if kept is not None and kept[0].offset <= start <= kept[-1].offset:
            yield kept
            start = kept[-1].offset + 1
        read = 0
        with closing(self._database.each(_FROM, (topic_id, partition, start))) as rows:
            for row in rows:
                stored = Stored(*row)
                if stored.base + stored.length > start:
                    yield stored.records()
                    read += len(stored.body)
                if most_bytes is not None and read >= most_bytes:
                    return

    def forget(self, topic_id: int, partition: int) -> None:
        """Lets go of the batch kept for a partition."""
        self._open.pop((topic_id, partition), None)


def pick(database: Database, topic_id: int, partition: int, offsets: Sequence[int]) -> dict[int, LogRecord]:
    """The records at these offsets, as far as there are any: each batch is read once."""
    found: dict[int, LogRecord] = {}
    wanted = sorted(set(offsets))
    place = 0
    while place < len(wanted):
        row = database.row(_HOLDING, (topic_id, partition, wanted[place]))
        end = wanted[place] + 1
        if row is not None:
            stored = Stored(*row)
            end = max(end, stored.base + stored.length)
            here = wanted[place : bisect_left(wanted, stored.base + stored.length)]
            found.update((record.offset, record) for record in stored.some(here))
        while place < len(wanted) and wanted[place] < end:
            place += 1
    return found
