"""The embedded engine: the tape and the store in one SQLite file, used by several processes at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from engines.engine import Engine
from engines.sqlite.log import SqliteLog
from engines.sqlite.opening import FILE, open_database
from engines.sqlite.space import SqliteSpace
from engines.sqlite.store import SqliteStore

__all__ = ["FILE", "open_engine"]


def open_engine(
    home: Path,
    *,
    session_seconds: float = 30.0,
    create: bool = True,
    read_only: bool = False,
    clock: Callable[[], float] = time.time,
) -> Engine:
    """The engine of a home folder.

    `session_seconds`: how long a member of a group may be silent before its partitions move on. `create` makes folder
    and file where they are missing; `read_only` opens what is there and writes nothing. `clock` tells seconds since
    1970. Raises EngineError where there is nothing (or something damaged, or newer) to open, StorageReadOnly,
    StorageFull, EngineUnavailable, UsageError where home is no folder.
    """
    database = open_database(home, create=create, read_only=read_only)
    return Engine(SqliteLog(database, session_seconds, clock), SqliteStore(database), SqliteSpace(database))
