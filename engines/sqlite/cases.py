"""The index of cases, and how far each has reached `states`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from engines.sqlite.connection import Database
from engines.sqlite.ids import unpack_id
from engines.sqlite.many import chunks, marks
from engines.store import CaseOrder, CaseRow, Move
from schemas.errors import UnknownCase

_COLUMNS = "key, tenant, subject, number, version_id, verdict, severity, score, analyses, conflicts, updated_at"
_ORDERS: Mapping[CaseOrder, str] = {
    "score": "score DESC, updated_at DESC, key",
    "updated": "updated_at DESC, key",
    "key": "key",
}
_BEYOND: Mapping[CaseOrder, str] = {
    "score": "score <= :score AND (score < :score OR updated_at < :updated_at OR"
    " (updated_at = :updated_at AND key > :key))",
    "updated": "updated_at <= :updated_at AND (updated_at < :updated_at OR key > :key)",
    "key": "key > :key",
}


class Cases:
    """The part of the store about the index and the marks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def cases(
        self, tenant: str | None, *, order: CaseOrder = "score", limit: int | None = None, after: str | None = None
    ) -> Sequence[CaseRow]:
        where = []
        values: dict[str, object] = {"limit": -1 if limit is None else limit}
        if tenant is not None:
            where.append("tenant = :tenant")
            values["tenant"] = tenant
        if after is not None:
            last = self.row(after)
            if last is None:
                raise UnknownCase(f"there is no case `{after}` to go on from")
            where.append(_BEYOND[order])
            values |= {"score": last.score, "updated_at": last.updated_at, "key": last.key}
        condition = f"WHERE {' AND '.join(where)}" if where else ""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM cases {condition} ORDER BY {_ORDERS[order]} LIMIT :limit",  # noqa: S608 - constants
            values,
        )
        return [_row(*row) for row in rows]

    def count(self, tenant: str | None) -> int:
        where, values = ("", ()) if tenant is None else ("WHERE tenant = ?", (tenant,))
        (found,) = self._database.row(f"SELECT count(*) FROM cases {where}", values)  # noqa: S608 - constants
        return int(found)

    def row(self, case: str) -> CaseRow | None:
        row = self._database.row(f"SELECT {_COLUMNS} FROM cases WHERE key = ?", (case,))  # noqa: S608 - constants
        return None if row is None else _row(*row)

    def published(self, cases: Sequence[str]) -> Mapping[str, int]:
        found = dict.fromkeys(cases, 0)
        for some in chunks(cases):
            found.update(
                self._database.rows(f"SELECT key, published FROM cases WHERE key IN ({marks(some)})", some)  # noqa: S608 - only marks
            )
        return found

    def move_published(self, moves: Sequence[Move]) -> Sequence[bool]:
        with self._database.writing() as connection:
            return [_moved(connection, one) for one in moves]

    def unpublished(self, limit: int) -> Sequence[str]:
        rows = self._database.rows("SELECT key FROM cases WHERE number > published ORDER BY id LIMIT ?", (limit,))
        return [key for (key,) in rows]


def _moved(connection: sqlite3.Connection, move: Move) -> bool:
    found = connection.execute(
        "UPDATE cases SET published = ? WHERE key = ? AND published = ? RETURNING id",
        (move.number, move.case, move.expected),
    ).fetchone()
    if found is None:
        return False
    note_places(connection, found[0], move.places)
    return True


def note_places(connection: sqlite3.Connection, case_id: int, places: Mapping[int, int]) -> None:
    """Notes where versions lie in `states`."""
    connection.executemany(
        "INSERT INTO places VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET tape_offset = ?3",
        [(case_id, number, place) for number, place in places.items()],
    )


def _row(key: str, tenant: str, subject: str, number: int, identifier: bytes | str, *rest: object) -> CaseRow:
    return CaseRow._make((key, tenant, subject, number, unpack_id(identifier), *rest))
