"""The lines of the cases: heads, versions with what they brought, snapshots. Rows of versions are never changed."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from engines.checks import check_commit
from engines.sqlite.batch import Packed, frame, pack, unframe, unpack
from engines.sqlite.connection import Database
from engines.sqlite.ids import pack_id, unpack_id
from engines.sqlite.many import chunks, marks
from engines.store import CaseRow, Commit, Head, Snapshot, StoredVersion
from schemas.errors import EngineError

_FIRST_ROW = """
INSERT INTO cases (key, tenant, subject, number, version_id, verdict, severity, score, analyses, conflicts, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NEXT_ROW = """
UPDATE cases SET number = ?, version_id = ?, verdict = ?, severity = ?, score = ?, analyses = ?, conflicts = ?,
updated_at = ? WHERE id = ?
"""


class _Ready(NamedTuple):
    """A commit in the form of its rows, made before the transaction begins."""

    commit: Commit
    versions: Sequence[tuple[int, bytes | str, int, bytes, int, int, bytes]]
    brought: Sequence[tuple[bytes | str, int]]
    snapshot: Packed | None
    bytes: int


class Versions:
    """The part of the store about lines of versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def heads(self, cases: Sequence[str]) -> Mapping[str, Head]:
        found: dict[str, Head] = {}
        for some in chunks(cases):
            rows = self._database.rows(
                f"SELECT key, number, version_id FROM cases WHERE key IN ({marks(some)})",  # noqa: S608 - only marks
                some,
            )
            found.update((key, Head(number, unpack_id(identifier))) for key, number, identifier in rows)
        return found

    def commit(self, commits: Sequence[Commit]) -> Sequence[bool]:
        for commit in commits:
            check_commit(commit)
        ready = [_ready(commit) for commit in commits]
        if not ready:
            return []
        with self._database.writing() as connection:
            return [_write(connection, one) for one in ready]

    def versions(self, case: str, first: int, last: int) -> Sequence[StoredVersion]:
        rows = self._database.rows(
            "SELECT number, version_id, record_codec, record FROM versions"
            " WHERE case_id = (SELECT id FROM cases WHERE key = ?1) AND number BETWEEN ?2 AND ?3"
            " AND +number > (SELECT pruned FROM cases WHERE key = ?1) ORDER BY number",
            (case, first, last),
        )
        found = []
        for number, identifier, codec, record in rows:
            with _placed(case, number):
                found.append(StoredVersion(number, unpack_id(identifier), unpack(codec, record), ()))
        return found

    def known(self, case: str, ids: Sequence[str]) -> set[str]:
        return set(self.content_numbers(case, ids))

    def known_by_case(self, asked: Mapping[str, Sequence[str]]) -> Mapping[str, set[str]]:
        # nothing lies between us and the file: a question each costs no round trip
        return {case: self.known(case, ids) for case, ids in asked.items()}

    def content_numbers(self, case: str, ids: Sequence[str]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        row = self._database.row("SELECT id FROM cases WHERE key = ?", (case,))
        if row is None:
            return found
        for some in chunks(ids):
            rows = self._database.rows(
                f"SELECT content_id, number FROM content_index WHERE case_id = ? AND content_id IN ({marks(some)})",  # noqa: S608 - only marks
                (row[0], *map(pack_id, some)),
            )
            found.update((unpack_id(kept), number) for kept, number in rows)
        return found

    def contents(self, case: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        wanted: defaultdict[int, set[str]] = defaultdict(set)
        for identifier, number in self.content_numbers(case, ids).items():
            wanted[number].add(identifier)
        found: dict[str, bytes] = {}
        for some in chunks(sorted(wanted)):
            rows = self._database.rows(
                "SELECT number, content_count, contents_codec, contents FROM versions"  # noqa: S608 - only marks are put in
                f" WHERE case_id = (SELECT id FROM cases WHERE key = ?) AND number IN ({marks(some)})"
                # the plus keeps the index for the numbers: by this bound it would walk the whole case
                " AND +number > (SELECT pruned FROM cases WHERE key = ?)",
                (case, *some, case),
            )
            for number, count, codec, body in rows:
                with _placed(case, number):
                    pairs = zip(*unframe(unpack(codec, body), count), strict=True)
                found.update((identifier, content) for identifier, content in pairs if identifier in wanted[number])
        # looked for last: what is pruned meanwhile goes from the versions to the remains
        self._add_remains(case, [one for held in wanted.values() for one in held if one not in found], found)
        return found

    def _add_remains(self, case: str, ids: Sequence[str], found: dict[str, bytes]) -> None:
        for some in chunks(ids):
            rows = self._database.rows(
                "SELECT content_id, codec, body FROM remains WHERE case_id = (SELECT id FROM cases WHERE key = ?)"  # noqa: S608 - only marks are put in
                f" AND content_id IN ({marks(some)})",
                (case, *map(pack_id, some)),
            )
            found.update((unpack_id(identifier), unpack(codec, body)) for identifier, codec, body in rows)

    def snapshot(self, case: str, number: int) -> Snapshot | None:
        row = self._database.row(
            "SELECT number, codec, body FROM snapshots WHERE case_id = (SELECT id FROM cases WHERE key = ?)"
            " AND number <= ? ORDER BY number DESC LIMIT 1",
            (case, number),
        )
        if row is None:
            return None
        with _placed(case, row[0]):
            return Snapshot(row[0], unpack(row[1], row[2]))


@contextmanager
def _placed(case: str, number: int) -> Iterator[None]:
    """Says of an error inside which version of which case cannot be read."""
    try:
        yield
    except EngineError as error:
        raise EngineError(
            f"version {number} of `{case}`: {error}, and run `casetape cases verify {case}` for all that is damaged"
        ) from error


def _ready(commit: Commit) -> _Ready:
    rows = []
    brought = []
    for version in commit.versions:
        record, contents = pack(version.record), pack(frame(version.contents))
        rows.append((version.number, pack_id(version.id), *record, len(version.contents), *contents))
        brought += [(pack_id(content.id), version.number) for content in version.contents]
    size = sum(len(row[3]) + len(row[6]) for row in rows)
    return _Ready(commit, rows, brought, None if commit.snapshot is None else pack(commit.snapshot.body), size)


def _write(connection: sqlite3.Connection, ready: _Ready) -> bool:
    """Moves one head; False, and nothing written, where it does not stand where the commit expects it."""
    commit, row = ready.commit, ready.commit.row
    now = connection.execute("SELECT id, number, version_id FROM cases WHERE key = ?", (commit.case,)).fetchone()
    if now is None:
        if commit.expected.number != 0:
            return False
        case_id = connection.execute(_FIRST_ROW, _columns(row)).lastrowid
    else:
        case_id = now[0]
        if Head(now[1], unpack_id(now[2])) != commit.expected:
            return False
        connection.execute(_NEXT_ROW, (*_columns(row)[3:], case_id))
    connection.executemany(
        "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(case_id, *one) for one in ready.versions]
    )
    # a content that the line already has stays with the version that brought it first
    added = connection.executemany(
        "INSERT INTO content_index VALUES (?, ?, ?) ON CONFLICT DO NOTHING", [(case_id, *one) for one in ready.brought]
    ).rowcount
    connection.execute(
        "UPDATE cases SET contents = contents + ?, bytes = bytes + ? WHERE id = ?",
        (max(0, added), ready.bytes, case_id),
    )
    if ready.snapshot is not None and commit.snapshot is not None:
        connection.execute(
            "INSERT INTO snapshots VALUES (?, ?, ?, ?)", (case_id, commit.snapshot.number, *ready.snapshot)
        )
    return True


def _columns(row: CaseRow) -> tuple[object, ...]:
    return (*row[:4], pack_id(row.id), *row[5:])
