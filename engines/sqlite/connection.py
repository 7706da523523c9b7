"""The one connection of an engine: how the file is opened, and how SQLite's errors become casetape's."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engines.sqlite.faults import made_nothing, translated
from schemas.errors import EngineError, StorageReadOnly

FILE = "casetape.db"
SCHEMA = 1
BUSY_SECONDS = 30.0
"""How long a writer waits for the one before it, then it is EngineUnavailable."""
_BUSY_STEP = 0.001
WAL_PAGES = 2_000
WAL_BYTES = 64 * 1024 * 1024
"""The write-ahead log is written back from 8 MB on; where readers let it outgrow that, it is cut between them."""
_LOOK_EVERY = 64
_CACHE_KIB = 16 * 1024

Parameters = Sequence[object] | Mapping[str, object]


class Database:
    """An open file. Reads run by themselves and leave nothing open; writes run inside `writing`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection
        self._wal = path.with_name(path.name + "-wal")
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
            if self._writes % _LOOK_EVERY == 0 and self._wal.stat().st_size > WAL_BYTES:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

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


def open_database(home: Path, *, create: bool, read_only: bool) -> Database:
    """The database of a home folder.

    `create` makes folder and file where they are missing. `read_only` opens an existing file and writes nothing, also
    where the folder cannot be written. Raises EngineError where there is no file (or a newer or damaged one),
    StorageReadOnly, StorageFull, EngineUnavailable.
    """
    path = home / FILE
    if read_only:
        return _open_to_read(path)
    if create:
        _make(home)
    elif not path.exists():
        raise _missing(path)
    # SQLite would open a file it cannot write for reading only, and fail at some later point
    if not os.access(path if path.exists() else home, os.W_OK) or not os.access(home, os.W_OK):
        raise StorageReadOnly(f"{home} cannot be written. Choose another home with --home, or make it writable")
    database = _connect(path, "rwc" if create else "rw")
    try:
        _prepare(database, create)
    except BaseException:
        database.close()
        raise
    return database


def _make(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise made_nothing(error, home) from error


def _missing(path: Path) -> EngineError:
    return EngineError(f"there is no casetape data in {path.parent}: feed something first, or name another --home")


def _connect(path: Path, mode: str, more: str = "") -> Database:
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}{more}"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise translated(error, path) from error
    database = Database(connection, path)
    try:
        database.rows(f"PRAGMA cache_size=-{_CACHE_KIB}")
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: Database, create: bool) -> None:
    database.rows("PRAGMA journal_mode=WAL")
    database.rows("PRAGMA synchronous=FULL")
    database.rows(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
    database.rows(f"PRAGMA journal_size_limit={WAL_BYTES}")
    if create and not _has_schema(database):
        with database.writing() as connection:
            # another process may have been first
            if not _has_schema(database):
                for statement in _statements(files("engines.sqlite").joinpath("schema.sql").read_text("utf-8")):
                    connection.execute(statement)
    _check_schema(database)


def _has_schema(database: Database) -> bool:
    return database.row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'about'") is not None


def _check_schema(database: Database) -> None:
    if not _has_schema(database):
        raise _missing(database.path)
    (schema,) = database.row("SELECT schema FROM about")
    if schema != SCHEMA:
        raise EngineError(
            f"{database.path} has format {schema}, and this casetape knows format {SCHEMA}:"
            " use the casetape that made it"
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _open_to_read(path: Path) -> Database:
    if not path.exists():
        raise _missing(path)
    database = _connect(path, "ro", _how_to_read(path))
    try:
        _check_schema(database)
    except BaseException:
        database.close()
        raise
    return database


def _how_to_read(path: Path) -> str:
    """Readers and writers meet in a file of shared memory. Where it is missing and cannot be made, nobody is writing
    by this folder, and the file can be read as it lies; but not what a writer that died has left beside it."""
    memory, wal = (path.with_name(path.name + end) for end in ("-shm", "-wal"))
    if memory.exists() or os.access(path.parent, os.W_OK):
        return ""
    if wal.exists() and wal.stat().st_size:
        raise StorageReadOnly(
            f"{path.parent} cannot be written, and its newest records lie in {wal.name}, which cannot be read so:"
            " copy the folder to where it can be written, and read it there"
        )
    return "&immutable=1"
