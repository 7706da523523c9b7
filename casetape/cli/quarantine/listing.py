"""`casetape quarantine list`."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from casetape.cli.common import AsJson, Home, Tenant, out, print_json, reading_if_any, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.quarantine.records import listed_json, place
from casetape.cli.render import ELLIPSIS, cell, lines_of, short, when
from casetape.counting import unused_words
from schemas.quarantined import Source
from workers.feed.quarantine import Listed
from workers.feed.quarantine import listing as quarantined

_ROOMY = 110
"""Characters of a line from which on the whole path of a file is shown, and who quarantined it has a column."""
_COLUMNS = (
    Column("id", whole=True),
    Column("tenant", whole=True, goes=5),
    Column("what", whole=True, goes=4),
    Column("reason", floor=20),
    Column("from"),
    Column("by", goes=2),
    Column("at", whole=True),
    Column("bytes", right=True, whole=True, goes=3),
    Column("requeued", goes=1),
)
SHOWN = 100
"""Rows that people are shown without asking for more."""


@verb
def listing(
    tenant: Tenant = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only what was not requeued.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Only the N that came last. Default: {SHOWN} in tables, all of them in JSON.",
            min=1,
            show_default=False,
        ),
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List what was quarantined, oldest first: why, where it came from, and whether it was requeued. Without a tenant:
    of all. A plug-in's failure is listed too, by the plug-in's name; the record itself went on."""
    chosen = settings(home=home, tenant=tenant)
    of_tenant = chosen.tenant if "tenant" in chosen.model_fields_set else None
    found: list[Listed] = []
    engine = reading_if_any(chosen)
    if engine is not None:
        with engine:
            found = list(quarantined(engine.log, engine.store, of_tenant))
    if only_open:
        found = [one for one in found if one.requeued is None]
    found.sort(key=lambda one: one.record.at)
    if as_json:
        print_json([listed_json(one) for one in (found if limit is None else found[-limit:])])
    elif found:
        out.print(_table(found, limit or SHOWN, out.width))
    else:
        whose = "" if of_tenant is None else f" of tenant {of_tenant}"
        out.print(cell(f"nothing{whose} is quarantined{' and not requeued' if only_open else ''}"))


def _table(found: list[Listed], limit: int, width: int) -> Table:
    """The last of them. Where there is little room who quarantined one stands below when, instead of in a column."""
    again = sum(one.requeued is not None for one in found)
    roomy = width >= _ROOMY
    rows = [
        (
            cell(short(one.record.id), "bold"),
            cell(one.record.tenant),
            one.record.what,
            cell(f"{one.record.reason} ({one.record.code})"),
            cell(_from(one.record.source, width)),
            cell(one.record.author),
            _at(one, by=not roomy),
            f"{one.record.size:,}",
            "no" if one.requeued is None else cell("yes", "green"),
        )
        for one in found[-limit:]
    ]
    # a column that says `no` in every row takes room from the reasons; the title says it once
    said_elsewhere = {name for name, true in (("by", not roomy), ("requeued", not again)) if true}
    kept = [place for place, column in enumerate(_COLUMNS) if column.name not in said_elsewhere]
    shown = [[row[place] for place in kept] for row in rows]
    return fitted(_title(found, again, len(rows)), [_COLUMNS[place] for place in kept], shown, width)


def _title(found: list[Listed], again: int, shown: int) -> str:
    faults = sum(one.record.what == "result" for one in found)
    said = f"{unused_words(len(found) - faults, faults)}; {f'{again:,}' if again else 'none'} requeued"
    return said if shown == len(found) else f"{said}; the last {shown:,}, --limit N for more"


def _at(one: Listed, *, by: bool) -> Text:
    at = Text(when(one.record.at, whole=True))
    return lines_of([at, cell(f"by {one.record.author}", "dim")]) if by else at


def _from(source: Source, width: int) -> str:
    """Where it came from; of a long path only the file's name where there is little room."""
    said = place(source)
    name = PurePath(said).name
    short_of_it = width < _ROOMY and source.file is not None and len(name) + 2 < len(said)
    return f"{ELLIPSIS}/{name}" if short_of_it else said
