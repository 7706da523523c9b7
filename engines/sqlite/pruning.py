"""Letting go of old versions: what the tape has for good leaves the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from engines.failpoints import fail_point
from engines.sqlite.batch import pack, unframe, unpack
from engines.sqlite.cases import note_places
from engines.sqlite.connection import Database
from engines.sqlite.ids import pack_id
from engines.sqlite.many import chunks, marks
from engines.store import Prune
from schemas.errors import EngineError, UsageError


class Pruning:
    """The part of the store about what it no longer keeps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def places(self, case: str, numbers: Sequence[int]) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for some in chunks(numbers):
            found.update(
                self._database.rows(
                    "SELECT number, tape_offset FROM places WHERE case_id = (SELECT id FROM cases WHERE key = ?)"  # noqa: S608 - only marks are put in
                    f" AND number IN ({marks(some)})",
                    (case, *some),
                )
            )
        return found

    def pruned(self, cases: Sequence[str]) -> Mapping[str, int]:
        found = dict.fromkeys(cases, 0)
        for some in chunks(cases):
            found.update(
                self._database.rows(f"SELECT key, pruned FROM cases WHERE key IN ({marks(some)})", some)  # noqa: S608 - only marks
            )
        return found

    def prunable(self, versions: int, limit: int) -> Sequence[str]:
        rows = self._database.rows(
            "SELECT key FROM cases WHERE published - pruned > 64 AND published - pruned > ?"
            " ORDER BY published - pruned DESC LIMIT ?",
            (versions, limit),
        )
        return [key for (key,) in rows]

    def prune(self, prunes: Sequence[Prune]) -> Sequence[bool]:
        if not prunes:
            return []
        with self._database.writing() as connection:
            return [_prune(connection, one) for one in prunes]


def _prune(connection: sqlite3.Connection, one: Prune) -> bool:
    row = connection.execute("SELECT id, pruned, number, published FROM cases WHERE key = ?", (one.case,)).fetchone()
    if row is None or row[1] != one.expected:
        return False
    case_id, _, head, mark = row
    if not one.expected < one.number <= mark or one.number >= head:
        raise UsageError(
            f"`{one.case}` cannot be pruned from {one.expected} to {one.number}: its mark is {mark}, its head {head}"
        )
    if not _has_snapshot(connection, case_id, one.number) or one.number in one.snapshots:
        raise UsageError(f"`{one.case}` has no snapshot at {one.number} to stand on")
    where = (case_id, one.expected, one.number)
    if _move_remains(connection, where, one.keep) < len(one.keep):
        raise EngineError(f"`{one.case}` lacks contents that are to stay: run `casetape cases verify {one.case}`")
    fail_point("store.pruning")
    (size,) = connection.execute(
        "SELECT coalesce(sum(length(record) + length(contents)), 0) FROM versions"
        " WHERE case_id = ? AND number > ? AND number <= ?",
        where,
    ).fetchone()
    connection.execute("DELETE FROM versions WHERE case_id = ? AND number > ? AND number <= ?", where)
    connection.executemany(
        "DELETE FROM snapshots WHERE case_id = ? AND number = ?", [(case_id, number) for number in one.snapshots]
    )
    note_places(connection, case_id, one.places)
    connection.execute("UPDATE cases SET pruned = ?, bytes = bytes - ? WHERE id = ?", (one.number, size, case_id))
    return True


def _has_snapshot(connection: sqlite3.Connection, case_id: int, number: int) -> bool:
    found = connection.execute("SELECT 1 FROM snapshots WHERE case_id = ? AND number = ?", (case_id, number))
    return found.fetchone() is not None


def _move_remains(connection: sqlite3.Connection, where: tuple[int, int, int], keep: Collection[str]) -> int:
    """Takes over from the versions that go what is to stay, and lets go of what was to stay until now only. Returns how
    much there is now."""
    case_id = where[0]
    wanted = {pack_id(identifier): identifier for identifier in keep}
    held = {one for (one,) in connection.execute("SELECT content_id FROM remains WHERE case_id = ?", (case_id,))}
    connection.executemany(
        "DELETE FROM remains WHERE case_id = ? AND content_id = ?", [(case_id, one) for one in held - wanted.keys()]
    )
    missing = {identifier: kept for kept, identifier in wanted.items() if kept not in held}
    for some in chunks(_numbers(connection, where, list(missing.values()))):
        rows = connection.execute(
            "SELECT content_count, contents_codec, contents FROM versions"  # noqa: S608 - only marks are put in
            f" WHERE case_id = ? AND number IN ({marks(some)})",
            (case_id, *some),
        )
        for count, codec, body in rows:
            pairs = zip(*unframe(unpack(codec, body), count), strict=True)
            connection.executemany(
                "INSERT INTO remains VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(case_id, missing[one], *pack(content)) for one, content in pairs if one in missing],
            )
    (count,) = connection.execute("SELECT count(*) FROM remains WHERE case_id = ?", (case_id,)).fetchone()
    return int(count)


def _numbers(connection: sqlite3.Connection, where: tuple[int, int, int], ids: Sequence[bytes | str]) -> list[int]:
    """Which of the versions that go brought these."""
    case_id, expected, last = where
    found: set[int] = set()
    for some in chunks(ids):
        rows = connection.execute(
            f"SELECT number FROM content_index WHERE case_id = ? AND content_id IN ({marks(some)})",  # noqa: S608 - only marks
            (case_id, *some),
        )
        found.update(number for (number,) in rows if expected < number <= last)
    return sorted(found)
