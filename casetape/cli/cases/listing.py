"""`casetape cases list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, NamedTuple

import typer
from rich.table import Table

from casetape.cli import shapes
from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.options import Said, Severe
from casetape.cli.render import case_name, cell, count, severity, share, when
from casetape.cli.render import verdict as verdict_words
from engines.store import CaseRow, StateStore
from schemas.verdicts import SEVERITIES, VERDICTS

SHOWN = 100
"""Rows that people are shown without asking for more."""
_COLUMNS = (
    Column("case", whole=True),
    Column("version", right=True, goes=4),
    Column("verdict", whole=True),
    Column("severity", whole=True, goes=1),
    Column("score", right=True, whole=True),
    Column("analyses", right=True, goes=3),
    Column("conflicts", right=True, goes=2),
    Column("updated", whole=True),
)


class Order(StrEnum):
    """Worst first, newest first, or by key."""

    score = "score"
    updated = "updated"
    key = "key"


class Wanted(NamedTuple):
    """Which cases are asked for; None: those of all verdicts, or severities."""

    verdict: Said | None
    severity: Severe | None

    def __bool__(self) -> bool:
        return self != (None, None)

    def has(self, row: CaseRow) -> bool:
        """Whether the row is one of them."""
        bad = self.verdict is None or _VERDICTS[row.verdict] >= _VERDICTS[self.verdict]
        return bad and (self.severity is None or _SEVERITIES[row.severity] >= _SEVERITIES[self.severity])

    @property
    def words(self) -> str:
        """What the filter says, behind the number of cases."""
        said = [] if self.verdict is None else [f"{self.verdict} or worse"]
        said += [] if self.severity is None else [f"of severity {self.severity} or higher"]
        return f" that are {' and '.join(said)}" if said else ""


_VERDICTS: Mapping[str, int] = {name: place for place, name in enumerate(VERDICTS)}
_SEVERITIES: Mapping[str, int] = {name: place for place, name in enumerate(SEVERITIES)}
_WORDS = {Order.score: "worst first", Order.updated: "newest first", Order.key: "by key"}


@verb
def listing(
    tenant: Tenant = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help=f"At most so many rows. Default: {SHOWN} in tables, all of them in JSON.", min=1, show_default=False
        ),
    ] = None,
    verdict: Annotated[
        Said | None, typer.Option("--verdict", help="Only cases of this verdict, or a worse one.", show_default=False)
    ] = None,
    min_severity: Annotated[
        Severe | None,
        typer.Option("--min-severity", help="Only cases of this severity, or a higher one.", show_default=False),
    ] = None,
    order: Annotated[Order, typer.Option(help="Worst first, newest first, or by key.")] = Order.score,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List cases, each as of its newest version. Without a tenant: those of all."""
    chosen = settings(home=home, tenant=tenant)
    wanted = Wanted(verdict, min_severity)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    rows: Sequence[CaseRow] = []
    total = 0
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            rows, total = _rows(engine.store, of_tenant, order, limit if as_json else limit or SHOWN, wanted)
    if as_json:
        print_json([shapes.row(one) for one in rows])
    elif rows:
        out.print(rows_table(rows, _title(len(rows), total, order, wanted), out.width))
    else:
        none = "there are no cases" if of_tenant is None else f"tenant {of_tenant} has no cases"
        out.print(cell(f"{none}{wanted.words}"))


def _rows(
    store: StateStore, tenant: str | None, order: Order, limit: int | None, wanted: Wanted
) -> tuple[Sequence[CaseRow], int]:
    """At most `limit` of the rows that are wanted, and how many there are in all."""
    if not wanted:
        return store.cases(tenant, order=order.value, limit=limit), store.count(tenant)
    found = [one for one in store.cases(tenant, order=order.value) if wanted.has(one)]
    return found[:limit], len(found)


def rows_table(rows: Sequence[CaseRow], title: str, width: int) -> Table:
    """The rows for people, in at most `width` characters."""
    cells = [
        (
            cell(case_name(one.key), "bold"),
            f"{one.number:,}",
            next(verdict_words(name) for name in VERDICTS if name == one.verdict),
            next(severity(name) for name in SEVERITIES if name == one.severity),
            share(one.score),
            f"{one.analyses:,}",
            cell(f"{one.conflicts:,}", "bold magenta" if one.conflicts else ""),
            when(one.updated_at, whole=True),
        )
        for one in rows
    ]
    return fitted(title, _COLUMNS, cells, width)


def _title(shown: int, total: int, order: Order, wanted: Wanted) -> str:
    cases = f"{count(total, 'case')}{wanted.words}"
    if shown == total:
        return f"{cases}, {_WORDS[order]}"
    return f"{shown:,} of {cases}, {_WORDS[order]}; --limit N for more"
