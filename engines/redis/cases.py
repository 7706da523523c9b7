"""The index of cases, and how far each has reached `states`."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from engines.redis import forms
from engines.redis.connection import Argument
from engines.redis.part import FIELDS_AT_ONCE, Part, text
from engines.redis.versions import Versions
from engines.store import CaseOrder, CaseRow, Move
from schemas.errors import UnknownCase

_PAGE = 1_000
_PENDING = 512


class Cases(Versions, Part):
    """The part of the store about the index and the marks."""

    def cases(
        self, tenant: str | None, *, order: CaseOrder = "score", limit: int | None = None, after: str | None = None
    ) -> Sequence[CaseRow]:
        begin: Argument = "-"
        beyond = b""
        if after is not None:
            last = self.row(after)
            if last is None:
                raise UnknownCase(f"there is no case `{after}` to go on from")
            beyond = forms.member(last, order)
            begin = b"(" + beyond
        tenants = self._tenants() if tenant is None else [tenant]
        if limit is None:
            # by key nothing moves while it is read: no case is missed, and none comes twice
            rows = [row for each in tenants for row in self._by_key(each)]
            found = sorted((forms.member(row, order), row) for row in rows)
            return [row for member, row in found if member > beyond]
        answers = self._watch.ask([self._index.page(each, order, begin, limit) for each in tenants])
        pages = [[(forms.member(row, order), row) for row in _rows(answer)] for answer in answers]
        return [row for _, row in islice(heapq.merge(*pages), limit)]

    def _by_key(self, tenant: str) -> Iterator[CaseRow]:
        begin: Argument = "-"
        while rows := _rows(self._watch.ask([self._index.page(tenant, "key", begin, _PAGE)])[0]):
            yield from rows
            begin = "(" + rows[-1].key

    def count(self, tenant: str | None) -> int:
        tenants = self._tenants() if tenant is None else [tenant]
        return sum(self._watch.ask([("ZCARD", self._keys.of_tenant(one, "by-key")) for one in tenants]))

    def _tenants(self) -> list[str]:
        """All that ever had a case."""
        return sorted(map(text, self._watch.one("SMEMBERS", self._keys.tenants)))

    def row(self, case: str) -> CaseRow | None:
        fields = self._watch.one("HMGET", self._keys.of_case(case, "head"), *forms.ROW_FIELDS)
        return forms.read_head(case, fields)

    def published(self, cases: Sequence[str]) -> Mapping[str, int]:
        return self._marks(cases, "published")

    def _marks(self, cases: Sequence[str], field: str) -> dict[str, int]:
        answers = self._watch.ask([("HGET", self._keys.of_case(case, "head"), field) for case in cases])
        return {case: int(mark or 0) for case, mark in zip(cases, answers, strict=True)}

    def move_published(self, moves: Sequence[Move]) -> Sequence[bool]:
        if not moves:
            return []
        with self._link.answering():
            calls = []
            for one in moves:
                keys = [self._keys.of_case(one.case, what) for what in ("head", "places")]
                keys += [self._keys.about] if self._link.shared else []
                places = [what for pair in one.places.items() for what in pair]
                calls.append(
                    self._link.script("move_published", keys, (one.expected, one.number, *self._watch.told(), *places))
                )
            answers = self._watch.ask(calls)
            if any(moved < 0 for moved, _, _ in answers):
                raise self._watch.behind()
            done = [
                (one, int(number), int(pruned))
                for one, (moved, number, pruned) in zip(moves, answers, strict=True)
                if moved
            ]
            self._index.follow({one.case: (number, one.number - pruned) for one, number, pruned in done})
            self._unmark({one.case: one.number for one, _, _ in done})
        return [bool(moved) for moved, _, _ in answers]

    def _unmark(self, marks: Mapping[str, int]) -> None:
        arguments = [what for case, mark in marks.items() for what in (mark, case)]
        self._link.ask(
            [
                self._link.script("unmark", [self._keys.pending], arguments[start : start + FIELDS_AT_ONCE])
                for start in range(0, len(arguments), FIELDS_AT_ONCE)
            ]
        )

    def unpublished(self, limit: int) -> Sequence[str]:
        found: list[str] = []
        start = 0
        while len(found) < limit:
            page = self._watch.one("ZRANGE", self._keys.pending, start, start + _PENDING - 1, "WITHSCORES")
            if not page:
                break
            behind, settled = self._sorted_out(dict(zip(map(text, page[::2]), map(float, page[1::2]), strict=True)))
            found += behind
            start += len(page) // 2 - settled
        return found[:limit]

    def _sorted_out(self, pending: Mapping[str, float]) -> tuple[list[str], int]:
        """Of these cases those whose head lies beyond their mark; and how many were not pending any more. Some are
        neither: they are just being committed, or whoever meant to has died before."""
        answers = self._watch.ask(
            [("HMGET", self._keys.of_case(case, "head"), "number", "published") for case in pending]
        )
        heads = {
            case: (int(number or 0), int(mark or 0)) for case, (number, mark) in zip(pending, answers, strict=True)
        }
        behind = [case for case, (number, mark) in heads.items() if number > mark]
        settled = {case: mark for case, (number, mark) in heads.items() if number <= mark and pending[case] <= mark}
        # whoever committed or published these may have died before the index had them
        self._index.follow({case: (heads[case][0], None) for case in [*behind, *settled]})
        self._unmark(settled)
        return behind, len(settled)


def _rows(page: Sequence[bytes]) -> list[CaseRow]:
    return [forms.read_row(text(case), kept) for case, kept in zip(page[::2], page[1::2], strict=True)]
