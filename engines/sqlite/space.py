"""The disk under the file. See `engines.sizes.Space`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engines.sizes import SpaceUse
from engines.sqlite.connection import WAL_PAGES, Database

_SPARE_PAGES = 2_048
_SPARE_SHARE = 8
"""So many free pages stay for what comes next, or an eighth of those in use where that is more: giving every page back
and taking it again would cost more than it saves."""
_AT_ONCE = 512
"""Pages given back in one transaction: about 5 ms."""


class _Pages(NamedTuple):
    total: int
    free: int
    size: int


class SqliteSpace:
    """One file, and the write-ahead log beside it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def use(self) -> SpaceUse:
        path, pages = self._database.path, self._pages()
        beside = sum(_size(path.with_name(path.name + end)) for end in ("-wal", "-shm"))
        return SpaceUse(str(path), _size(path), pages.total * pages.size, pages.free * pages.size, beside)

    def give_back(self, most: int) -> int:
        pages = self._pages()
        spare = max(_SPARE_PAGES, (pages.total - pages.free) // _SPARE_SHARE)
        going = min(pages.free - spare, most // pages.size)
        if self._incremental() and going > 0:
            for start in range(0, going, _AT_ONCE):
                with self._database.writing() as connection:
                    # one page a call: the driver stops after the first page of a call for more
                    for _ in range(min(_AT_ONCE, going - start)):
                        connection.execute("PRAGMA incremental_vacuum(1)").fetchall()
        gone = (pages.total - self._pages().total) * pages.size
        if gone > 0 or _size(self._database.wal) > 2 * WAL_PAGES * pages.size:
            self._database.cut_wal()
        return max(0, gone)

    def _pages(self) -> _Pages:
        return _Pages(
            *(self._database.row(f"PRAGMA {name}")[0] for name in ("page_count", "freelist_count", "page_size"))
        )

    def _incremental(self) -> bool:
        """Files of an earlier casetape use their free pages again, and give none back."""
        mode: int = self._database.row("PRAGMA auto_vacuum")[0]
        return mode == 2


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
