"""Small named values."""

from __future__ import annotations

from collections.abc import Mapping

from engines.sqlite.connection import Database


class Notes:
    """The part of the store about notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, key: str) -> bytes | None:
        row = self._database.row("SELECT body FROM notes WHERE key = ?", (key,))
        return None if row is None else bytes(row[0])

    def notes(self, prefix: str, *, after: str = "", limit: int | None = None) -> Mapping[str, bytes]:
        return dict(
            self._database.rows(
                "SELECT key, body FROM notes WHERE key >= ?1 AND key < ?1 || char(0x10FFFF) AND key > ?2"
                " AND substr(key, 1, ?3) = ?1 ORDER BY key LIMIT ?4",
                (prefix, after, len(prefix), -1 if limit is None else limit),
            )
        )

    def move_note(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        with self._database.writing() as connection:
            row = connection.execute("SELECT body FROM notes WHERE key = ?", (key,)).fetchone()
            if (None if row is None else row[0]) != expected:
                return False
            if new is None:
                connection.execute("DELETE FROM notes WHERE key = ?", (key,))
            else:
                connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, new))
        return True
