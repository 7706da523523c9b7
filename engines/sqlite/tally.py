"""How much there is of everything, without looking at all of it."""

from __future__ import annotations

from engines.sizes import Size, StoreSizes
from engines.sqlite.connection import Database


class Tally:
    """The part of the store about its sizes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sizes(self) -> StoreSizes:
        cases, kept, size, pruned, contents = self._database.row(
            "SELECT count(*), coalesce(sum(number - pruned), 0), coalesce(sum(bytes), 0), coalesce(sum(pruned), 0),"
            " coalesce(sum(contents), 0) FROM cases"
        )
        return StoreSizes(
            cases=cases,
            versions=Size(kept, size),
            pruned=pruned,
            remains=self._of("remains"),
            contents=contents,
            snapshots=self._of("snapshots"),
            parts=self._by("owner", "parts"),
            notes=self._by("substr(key, 1, instr(key || '/', '/') - 1)", "notes"),
        )

    def _of(self, table: str) -> Size:
        row = self._database.row(f"SELECT count(*), coalesce(sum(length(body)), 0) FROM {table}")  # noqa: S608 - a constant
        return Size(*row)

    def _by(self, name: str, table: str) -> dict[str, Size]:
        rows = self._database.rows(
            f"SELECT {name}, count(*), sum(length(body)) FROM {table} GROUP BY 1 ORDER BY 1"  # noqa: S608 - constants
        )
        return {key: Size(count, size) for key, count, size in rows}
