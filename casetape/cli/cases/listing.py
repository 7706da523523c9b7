"""`casetape cases list`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from casetape.cli import shapes
from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.render import cell, count, severity, share, table, verdict, when
from engines.store import CaseRow
from schemas.verdicts import SEVERITIES, VERDICTS


class Order(StrEnum):
    """Worst first, newest first, or by key."""

    score = "score"
    updated = "updated"
    key = "key"


@verb
def listing(
    tenant: Tenant = None,
    limit: Annotated[int | None, typer.Option(help="At most so many rows.", min=1)] = None,
    order: Annotated[Order, typer.Option(help="Worst first, newest first, or by key.")] = Order.score,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List cases, each as of its newest version. Without a tenant: those of all."""
    chosen = settings(home=home, tenant=tenant)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    rows: Sequence[CaseRow] = []
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            rows = engine.store.cases(of_tenant, order=order.value, limit=limit)
    if as_json:
        print_json([shapes.row(one) for one in rows])
    else:
        out.print(rows_table(rows))


def rows_table(rows: Sequence[CaseRow]) -> Table:
    """The rows for people."""
    shown = table(
        count(len(rows), "case"),
        *("case", "version", "verdict", "severity", "score", "analyses", "conflicts", "updated"),
        right=("version", "score", "analyses", "conflicts"),
        whole=("verdict", "severity", "score", "updated"),
    )
    for one in rows:
        shown.add_row(
            cell(one.key, "bold"),
            f"{one.number:,}",
            next(verdict(name) for name in VERDICTS if name == one.verdict),
            next(severity(name) for name in SEVERITIES if name == one.severity),
            share(one.score),
            f"{one.analyses:,}",
            cell(f"{one.conflicts:,}", "bold magenta" if one.conflicts else ""),
            when(one.updated_at, whole=True),
        )
    return shown
