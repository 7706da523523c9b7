"""SQLite's and the system's errors as casetape's, with what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from schemas.errors import EngineError, EngineUnavailable, StorageFull, StorageReadOnly, UsageError

_LITTLE_ROOM = 256 * 1024


def translated(error: sqlite3.Error, path: Path) -> EngineError:
    """What an error of SQLite on the database at `path` means to casetape."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    primary, home = code & 0xFF, path.parent
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(home)):
        return StorageFull(
            f"there is no room left where {home} lies; nothing half-written was kept. Make room and run again"
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StorageReadOnly(f"{home} cannot be written. Choose another home with --home, or make it writable")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return EngineUnavailable(f"{path} is held by another writer for too long; nothing was changed, try again")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return EngineError(
            f"{path} is damaged or no casetape database ({error}): put back a copy, or name another --home"
        )
    if primary == sqlite3.SQLITE_CANTOPEN:
        return EngineError(f"{path} cannot be opened ({error}): check that you may read it and its folder")
    return EngineError(f"{path}: {error}")


def made_nothing(error: OSError, home: Path) -> EngineError | UsageError:
    """Why the home folder could not be made."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"there is no room left to make {home}. Make room and run again")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StorageReadOnly(f"{home} cannot be made ({error.strerror}). Choose another home with --home")
    return UsageError(f"{home} cannot be the home folder: {error.strerror}")


def _no_room(home: Path) -> bool:
    # shared memory and journals report a full disk as a plain I/O error
    room = os.statvfs(home)
    return room.f_bavail * room.f_frsize < _LITTLE_ROOM
