"""How much there is of everything, without looking at all of it."""

from __future__ import annotations

from collections.abc import Iterator

from engines.redis.cases import Cases
from engines.redis.part import text
from engines.sizes import Size, StoreSizes

_COUNTS = ("number", "pruned", "bytes", "contents", "remains", "remains-bytes", "snapshots", "snapshot-bytes")


class Tally(Cases):
    """The part of the store about its sizes."""

    def sizes(self) -> StoreSizes:
        cases = 0
        sums = [0] * len(_COUNTS)
        for counts in self._counts():
            cases += 1
            sums = [one + other for one, other in zip(sums, counts, strict=True)]
        number, pruned, size, contents, remains, remains_size, snapshots, snapshots_size = sums
        return StoreSizes(
            cases=cases,
            versions=Size(number - pruned, size),
            pruned=pruned,
            remains=Size(remains, remains_size),
            contents=contents,
            snapshots=Size(snapshots, snapshots_size),
            parts=self._part_sizes(),
            notes=self._note_sizes(),
        )

    def _counts(self) -> Iterator[list[int]]:
        for tenant in self._tenants():
            for page in self._pages(tenant):
                for fields in self._watch.ask([("HMGET", self._keys.of_case(case, "head"), *_COUNTS) for case in page]):
                    yield [int(field or 0) for field in fields]

    def _pages(self, tenant: str) -> Iterator[list[str]]:
        begin: str = "-"
        key = self._keys.of_tenant(tenant, "by-key")
        while page := self._watch.one("ZRANGE", key, begin, "+", "BYLEX", "LIMIT", 0, 1_000):
            yield [text(case) for case in page]
            begin = "(" + text(page[-1])

    def _part_sizes(self) -> dict[str, Size]:
        owners = sorted(map(text, self._link.one("SMEMBERS", self._keys.of_store("part-owners"))))
        answers = self._link.ask([self._link.script("part_sizes", [self._keys.parts(owner)], ()) for owner in owners])
        return {owner: Size(*found) for owner, found in zip(owners, answers, strict=True) if found[0]}

    def _note_sizes(self) -> dict[str, Size]:
        found: dict[str, Size] = {}
        after = ""
        while page := self._page_of_notes(after):
            for key, size in page:
                kind = key.partition("/")[0]
                before = found.get(kind, Size(0, 0))
                found[kind] = Size(before.count + 1, before.bytes + size)
            after = page[-1][0]
        return found

    def _page_of_notes(self, after: str) -> list[tuple[str, int]]:
        names = self._keys.of_store("note-keys")
        keys = self._link.one("ZRANGE", names, f"({after}" if after else "-", "+", "BYLEX", "LIMIT", 0, 1_000)
        lengths = self._link.ask([("HSTRLEN", self._keys.of_store("notes"), key) for key in keys])
        return [(text(key), size) for key, size in zip(keys, lengths, strict=True)]
