"""Letting go of whole cases, for a store that is made anew."""

from __future__ import annotations

from collections.abc import Sequence

from engines.sqlite.connection import Database
from engines.sqlite.many import chunks, marks

_TABLES = ("versions", "remains", "places", "content_index", "snapshots")


class Dropping:
    """The part of the store about dropping cases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def drop(self, cases: Sequence[str]) -> None:
        for some in chunks(cases):
            with self._database.writing() as connection:
                ids = [
                    one
                    for (one,) in connection.execute(f"SELECT id FROM cases WHERE key IN ({marks(some)})", some)  # noqa: S608 - only marks
                ]
                for table in _TABLES:
                    connection.execute(f"DELETE FROM {table} WHERE case_id IN ({marks(ids)})", ids)  # noqa: S608 - constants and marks
                connection.execute(f"DELETE FROM cases WHERE id IN ({marks(ids)})", ids)  # noqa: S608 - only marks
