"""Small named values."""

from __future__ import annotations

from collections.abc import Mapping

from engines.redis.connection import token
from engines.redis.keys import ANSWERED
from engines.redis.named import named
from engines.redis.part import Part


class Notes(Part):
    """The part of the store about notes."""

    def note(self, key: str) -> bytes | None:
        found: bytes | None = self._link.one("HGET", self._keys.of_store("notes"), key)
        return found

    def notes(self, prefix: str, *, after: str = "", limit: int | None = None) -> Mapping[str, bytes]:
        keys = [self._keys.of_store("note-keys"), self._keys.of_store("notes")]
        return dict(named(self._link, keys, prefix, after=after, limit=limit))

    def move_note(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        keys = [self._keys.of_store(what) for what in ("notes", "note-keys", f"answer:{token()}")]
        values = [what for value in (expected, new) for what in ((0, b"") if value is None else (1, value))]
        return bool(self._link.one(*self._link.script("move_note", keys, (key, *values, ANSWERED))))
