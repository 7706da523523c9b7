"""Opening the file of a home folder."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from engines.sqlite.connection import Database
from engines.sqlite.faults import made_nothing, translated
from engines.sqlite.form import check, missing, prepare
from schemas.errors import StorageReadOnly

FILE = "casetape.db"
_CACHE_KIB = 16 * 1024


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
        raise missing(path)
    # SQLite would open a file it cannot write for reading only, and fail at some later point
    if not os.access(path if path.exists() else home, os.W_OK) or not os.access(home, os.W_OK):
        raise StorageReadOnly(f"{home} cannot be written. Choose another home with --home, or make it writable")
    database = _connect(path, "rwc" if create else "rw")
    try:
        prepare(database, create)
    except BaseException:
        database.close()
        raise
    return database


def _make(home: Path) -> None:
    """What observations say is nobody else's business: folder and file are their owner's, if they are made here."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise made_nothing(error, home) from error
    # what is wrong with it SQLite says in a moment
    with suppress(OSError):
        os.close(os.open(home / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


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


def _open_to_read(path: Path) -> Database:
    if not path.exists():
        raise missing(path)
    database = _connect(path, "ro", _how_to_read(path))
    try:
        check(database)
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
