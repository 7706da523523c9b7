"""Keeping each tenant's index of cases: it lies in a slot of its own, and follows the cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from engines.redis.connection import Argument, Call, Link
from engines.redis.forms import BEFORE, ROW_FIELDS, place, read_head, row_rest
from engines.redis.part import chunks, text
from engines.store import CaseOrder, CaseRow

_AT_ONCE = 250
"""Cases in one script: it holds everyone else up for about a millisecond."""


class Index:
    """The indexes of all tenants."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def put(self, rows: Sequence[CaseRow]) -> None:
        """Brings the index up to these rows; where it has later ones, they stay."""
        self._run({row.key: (row.number, "", place(row), row_rest(row)) for row in rows})

    def follow(self, cases: Mapping[str, tuple[int, int | None]]) -> None:
        """Sees to it that the index has the rows of these cases, of which the number of the head is told, and how many
        versions are kept and published (None: not known). Whoever committed them may have died before that."""
        late = self._run({case: (number, _text(length), b"", "") for case, (number, length) in cases.items()})
        if late:
            heads = self._link.ask([("HMGET", self._link.keys.of_case(case, "head"), *ROW_FIELDS) for case in late])
            rows = (read_head(case, fields) for case, fields in zip(late, heads, strict=True))
            self.put([row for row in rows if row is not None])

    def drop(self, cases: Sequence[str]) -> None:
        """Takes cases out."""
        by_tenant: defaultdict[str, list[str]] = defaultdict(list)
        for case in cases:
            by_tenant[case.partition("/")[0]].append(case)
        self._link.ask(
            [
                self._link.script("unindex", self._of(tenant), some)
                for tenant, held in by_tenant.items()
                for some in chunks(held, _AT_ONCE)
            ]
        )

    def page(self, tenant: str, order: CaseOrder, begin: Argument, count: int) -> Call:
        """The call that asks for a page: `begin` as ZRANGE BYLEX has it."""
        name, before = BEFORE[order]
        keys = [self._link.keys.of_tenant(tenant, name), self._link.keys.of_tenant(tenant, "rows")]
        return self._link.script("page", keys, (begin, count, before))

    def _run(self, told: Mapping[str, tuple[int, str, bytes, str]]) -> list[str]:
        by_tenant: defaultdict[str, list[Argument]] = defaultdict(list)
        for case, arguments in told.items():
            by_tenant[case.partition("/")[0]] += (case, *arguments)
        calls = [
            self._link.script("index", self._of(tenant), some)
            for tenant, arguments in by_tenant.items()
            for some in chunks(arguments, 5 * _AT_ONCE)
        ]
        return [text(case) for late in self._link.ask(calls) for case in late]

    def _of(self, tenant: str) -> list[str]:
        names = ("rows", "by-score", "by-updated", "by-key", "long")
        return [self._link.keys.of_tenant(tenant, name) for name in names]


def _text(length: int | None) -> str:
    return "" if length is None else str(length)
