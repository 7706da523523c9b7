"""What detectors keep of their windows: immutable parts, and the manifests that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.sqlite.batch import pack, unpack
from engines.sqlite.connection import Database
from engines.store import Manifest
from schemas.errors import EngineError


class Windows:
    """The part of the store about windows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_part(self, owner: str, part: str, body: bytes) -> None:
        packed = pack(body)
        with self._database.writing() as connection:
            connection.execute("INSERT INTO parts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (owner, part, *packed))
        if self.part(owner, part) != body:
            raise EngineError(f"part `{part}` of `{owner}` is there already, with other bytes: parts never change")

    def part(self, owner: str, part: str) -> bytes | None:
        row = self._database.row("SELECT codec, body FROM parts WHERE owner = ? AND part = ?", (owner, part))
        return None if row is None else unpack(*row)

    def parts(self, owner: str) -> Sequence[str]:
        return [
            part for (part,) in self._database.rows("SELECT part FROM parts WHERE owner = ? ORDER BY part", (owner,))
        ]

    def drop_parts(self, owner: str, parts: Sequence[str]) -> None:
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM parts WHERE owner = ? AND part = ?", [(owner, part) for part in parts])

    def manifest(self, owner: str) -> Manifest | None:
        row = self._database.row("SELECT generation, next_offset, body FROM manifests WHERE owner = ?", (owner,))
        return None if row is None else Manifest(*row)

    def manifests(self, prefix: str) -> Mapping[str, Manifest]:
        rows = self._database.rows(
            "SELECT owner, generation, next_offset, body FROM manifests WHERE owner >= ? AND substr(owner, 1, ?) = ?"
            " ORDER BY owner",
            (prefix, len(prefix), prefix),
        )
        return {owner: Manifest(*rest) for owner, *rest in rows}

    def move_manifest(self, owner: str, expected: Manifest | None, new: Manifest) -> bool:
        if expected is not None and new[:2] < expected[:2]:
            return False
        with self._database.writing() as connection:
            if expected is None:
                moved = connection.execute(
                    "INSERT INTO manifests VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (owner, *new)
                )
            else:
                moved = connection.execute(
                    "UPDATE manifests SET generation = ?, next_offset = ?, body = ?"
                    " WHERE owner = ? AND generation = ? AND next_offset = ?",
                    (*new, owner, expected.generation, expected.offset),
                )
        return moved.rowcount == 1

    def forget_owner(self, owner: str) -> int:
        with self._database.writing() as connection:
            gone = connection.execute("DELETE FROM parts WHERE owner = ?", (owner,)).rowcount
            connection.execute("DELETE FROM manifests WHERE owner = ?", (owner,))
        return gone
