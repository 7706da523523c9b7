"""The one connection of an engine: reads, writes, and how SQLite's errors become casetape's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engines.sqlite.faults import translated

BUSY_SECONDS = 30.0
"""How long a writer waits for the one before it, then it is EngineUnavailable."""
_BUSY_STEP = 0.001
WAL_PAGES = 2_000
WAL_BYTES = 64 * 1024 * 1024
"""The write-ahead log is written back from 8 MB on; where readers let it outgrow that, it is cut between them."""
_LOOK_EVERY = 64

Parameters = Sequence[object] | Mapping[str, object]


class Database:
    """An open file. Reads run by themselves and leave nothing open; writes run inside `writing`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection
        self.wal = path.with_name(path.name + "-wal")
        self._writes = 0

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """All rows of a query."""
        try:
            return self._run(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def row(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first row of a query, or None."""
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def each(self, sql: str, parameters: Parameters = ()) -> Generator[Any, None, None]:
        """The rows of a query one by one. Close the iterator: a query left half read would hold up checkpoints."""
        try:
            cursor = self._run(sql, parameters)
            try:
                yield from cursor
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: durable when the block has ended, undone where it raised."""
        connection = self._connection
        try:
            self._run("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._writes += 1
            if self._writes % _LOOK_EVERY == 0 and self.wal.stat().st_size > WAL_BYTES:
                self.cut_wal()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def cut_wal(self) -> None:
        """Writes the write-ahead log back and empties its file; as much of it as readers allow."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Waits for its turn in short steps: SQLite's own steps grow to 0.1 s, and starve a writer among busy ones."""
        until: float | None = None
        while True:
            try:
                return self._connection.execute(sql, parameters)
            except sqlite3.OperationalError as error:
                now = time.monotonic()
                until = now + BUSY_SECONDS if until is None else until
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or now > until:
                    raise
            time.sleep(_BUSY_STEP)

    def close(self) -> None:
        """Closes the file; a repeat is harmless."""
        self._connection.close()
