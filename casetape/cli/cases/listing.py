"""`casetape cases list`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from casetape.cli import shapes
from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.render import case_name, cell, count, severity, share, verdict, when
from engines.store import CaseRow
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
    order: Annotated[Order, typer.Option(help="Worst first, newest first, or by key.")] = Order.score,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List cases, each as of its newest version. Without a tenant: those of all."""
    chosen = settings(home=home, tenant=tenant)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    rows: Sequence[CaseRow] = []
    total = 0
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            rows = engine.store.cases(of_tenant, order=order.value, limit=limit if as_json else limit or SHOWN)
            total = len(rows) if as_json else engine.store.count(of_tenant)
    if as_json:
        print_json([shapes.row(one) for one in rows])
    elif rows:
        out.print(rows_table(rows, _title(len(rows), total, order), out.width))
    else:
        out.print(cell("there are no cases" if of_tenant is None else f"tenant {of_tenant} has no cases"))


def rows_table(rows: Sequence[CaseRow], title: str, width: int) -> Table:
    """The rows for people, in at most `width` characters."""
    cells = [
        (
            cell(case_name(one.key), "bold"),
            f"{one.number:,}",
            next(verdict(name) for name in VERDICTS if name == one.verdict),
            next(severity(name) for name in SEVERITIES if name == one.severity),
            share(one.score),
            f"{one.analyses:,}",
            cell(f"{one.conflicts:,}", "bold magenta" if one.conflicts else ""),
            when(one.updated_at, whole=True),
        )
        for one in rows
    ]
    return fitted(title, _COLUMNS, cells, width)


def _title(shown: int, total: int, order: Order) -> str:
    if shown == total:
        return f"{count(total, 'case')}, {_WORDS[order]}"
    return f"{shown:,} of {count(total, 'case')}, {_WORDS[order]}; --limit N for more"
