"""What detectors keep of their windows: immutable parts, and the manifests that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.redis import forms
from engines.redis.connection import token
from engines.redis.keys import ANSWERED
from engines.redis.named import named
from engines.redis.part import Part, chunks, text
from engines.store import Manifest
from schemas.errors import EngineError


class Windows(Part):
    """The part of the store about windows."""

    def put_part(self, owner: str, part: str, body: bytes) -> None:
        with self._link.answering():
            # the owner first: whoever counts the parts finds it
            self._link.one("SADD", self._keys.of_store("part-owners"), owner)
            self._link.one("HSETNX", self._keys.parts(owner), part, forms.blob(body))
            if self.part(owner, part) != body:
                raise EngineError(f"part `{part}` of `{owner}` is there already, with other bytes: parts never change")

    def part(self, owner: str, part: str) -> bytes | None:
        found = self._link.one("HGET", self._keys.parts(owner), part)
        return None if found is None else forms.unblob(found)

    def parts(self, owner: str) -> Sequence[str]:
        return sorted(map(text, self._link.one("HKEYS", self._keys.parts(owner))))

    def drop_parts(self, owner: str, parts: Sequence[str]) -> None:
        self._link.ask([("HDEL", self._keys.parts(owner), *some) for some in chunks(parts)])

    def manifest(self, owner: str) -> Manifest | None:
        found = self._link.one("HGET", self._keys.of_store("manifests"), owner)
        return None if found is None else _read(found)

    def manifests(self, prefix: str) -> Mapping[str, Manifest]:
        keys = [self._keys.of_store("owners"), self._keys.of_store("manifests")]
        return {owner: _read(kept) for owner, kept in named(self._link, keys, prefix)}

    def move_manifest(self, owner: str, expected: Manifest | None, new: Manifest) -> bool:
        if expected is not None and new[:2] < expected[:2]:
            return False
        keys = [self._keys.of_store(what) for what in ("manifests", "owners", f"answer:{token()}")]
        before = b"" if expected is None else _place(expected)
        arguments = (owner, before, _place(new) + new.body, ANSWERED)
        return bool(self._link.one(*self._link.script("move_manifest", keys, arguments)))

    def forget_owner(self, owner: str) -> int:
        count = self._link.one("HLEN", self._keys.parts(owner))
        # the manifest first: parts that no manifest names are strays, which whoever takes over drops
        self._link.ask(
            [
                ("HDEL", self._keys.of_store("manifests"), owner),
                ("ZREM", self._keys.of_store("owners"), owner),
                ("UNLINK", self._keys.parts(owner)),
                ("SREM", self._keys.of_store("part-owners"), owner),
            ]
        )
        return int(count)


def _place(one: Manifest) -> bytes:
    return b"%d %d " % (one.generation, one.offset)


def _read(kept: bytes) -> Manifest:
    generation, offset, body = kept.split(b" ", 2)
    return Manifest(int(generation), int(offset), body)
