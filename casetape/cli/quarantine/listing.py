"""`casetape quarantine list`."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

import typer
from rich.table import Table

from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.quarantine.records import listed_json, place
from casetape.cli.render import ELLIPSIS, cell, short, when
from schemas.quarantined import Source
from workers.feed.quarantine import Listed
from workers.feed.quarantine import listing as quarantined

_ROOMY = 110
"""Characters of a line from which on the whole path of a file is shown."""
_COLUMNS = (
    Column("id", whole=True),
    Column("tenant", whole=True, goes=5),
    Column("what", whole=True, goes=4),
    Column("reason", floor=20),
    Column("from"),
    Column("by", goes=3),
    Column("at", whole=True),
    Column("bytes", right=True, whole=True, goes=2),
    Column("requeued", goes=1),
)


@verb
def listing(
    tenant: Tenant = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only what was not requeued.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List what was quarantined: why, where it came from, and whether it was requeued. Without a tenant: of all."""
    chosen = settings(home=home, tenant=tenant)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    found: list[Listed] = []
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            found = list(quarantined(engine.log, engine.store, of_tenant))
    if only_open:
        found = [one for one in found if one.requeued is None]
    if as_json:
        print_json([listed_json(one) for one in found])
    elif found:
        out.print(_table(found, out.width))
    else:
        whose = "" if of_tenant is None else f" of tenant {of_tenant}"
        out.print(cell(f"nothing{whose} is quarantined{' and not requeued' if only_open else ''}"))


def _table(found: list[Listed], width: int) -> Table:
    again = sum(one.requeued is not None for one in found)
    rows = [
        (
            cell(short(one.record.id), "bold"),
            cell(one.record.tenant),
            one.record.what,
            cell(f"{one.record.reason} ({one.record.code})"),
            cell(_from(one.record.source, width)),
            cell(one.record.author),
            when(one.record.at, whole=True),
            f"{one.record.size:,}",
            "no" if one.requeued is None else cell("yes", "green"),
        )
        for one in found
    ]
    # a column that says `no` in every row takes room from the reasons; the title says it once
    columns = _COLUMNS if again else _COLUMNS[:-1]
    return fitted(f"{len(found):,} quarantined, {f'{again:,}' if again else 'none'} requeued", columns, rows, width)


def _from(source: Source, width: int) -> str:
    """Where it came from; of a long path only the file's name where there is little room."""
    said = place(source)
    name = PurePath(said).name
    short_of_it = width < _ROOMY and source.file is not None and len(name) + 2 < len(said)
    return f"{ELLIPSIS}/{name}" if short_of_it else said
