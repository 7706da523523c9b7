"""`casetape quarantine requeue`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import typer

from casetape.cli.common import FAILED, AsJson, Home, out, print_json, settings, tell, verb, writing
from casetape.cli.quarantine.records import chosen, place
from casetape.cli.render import cell, short, table
from casetape.run import now
from engines.engine import Engine
from engines.topics import OBSERVATIONS
from schemas.errors import UsageError
from schemas.quarantined import Quarantined
from workers.feed.options import AUTO, KINDS, FeedOptions
from workers.feed.quarantine import listing as quarantined
from workers.feed.requeue import Outcome
from workers.feed.requeue import requeue as requeue_record


class Tried(NamedTuple):
    """A quarantined record and what became of it."""

    record: Quarantined
    outcome: Outcome


@verb
def requeue(
    identifier: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Its id, or as much of the beginning as no other has.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that were not requeued yet.")] = False,
    kind: Annotated[
        str | None, typer.Option(help=f"Read it as this kind now: {KINDS.removeprefix('auto, ')}.", show_default=False)
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="Whom it is about, for example host:10.0.0.5.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Try what was quarantined again, as it was fed or with other choices; `casetape run` then works it off. Exit 1
    where one still fails. A plug-in's failures stay listed: the record itself went on."""
    if (identifier is None) == (not everything):
        raise UsageError("say which one by its id, or --all")
    chosen = settings(home=home)
    given = {"kind": kind, "subject": subject, "mappings": chosen.mappings, "zeek_fields": chosen.zeek_fields}
    change = {name: value for name, value in given.items() if value not in (None, {})}
    checked(change)
    with writing(chosen) as engine:
        tried = [_try(engine, one, change) for one in _wanted(engine, identifier)]
    if as_json:
        print_json([{"id": one.record.id, **one.outcome._asdict()} for one in tried])
    elif tried:
        _show(tried)
    else:
        out.print(cell("nothing is waiting to be requeued"))
    failed = sum(one.outcome.observation is None for one in tried)
    if failed:
        tell(f"casetape: {failed} of {len(tried)} still cannot be used")
        raise typer.Exit(FAILED)


def checked(change: Mapping[str, Any]) -> None:
    """Checks choices that would fit no record, whether there is one or not. Raises UsageError."""
    if FeedOptions(**change).kind == AUTO and "kind" in change:
        raise UsageError(f"say with which kind to read it: {KINDS.removeprefix('auto, ')}")


def _wanted(engine: Engine, identifier: str | None) -> list[Quarantined]:
    found = quarantined(engine.log, engine.store)
    if identifier is not None:
        return [chosen(found, identifier).record]
    return [one.record for one in found if one.requeued is None and _can_be(one.record)]


def _can_be(record: Quarantined) -> bool:
    return record.what == "input" or (record.what == "record" and record.source.topic == OBSERVATIONS)


def _try(engine: Engine, record: Quarantined, change: Mapping[str, Any]) -> Tried:
    try:
        return Tried(record, requeue_record(engine.log, engine.store, record, now, change=change))
    except UsageError as error:
        # the choices do not fit this record; they may fit the next
        return Tried(record, Outcome(None, str(error)))


def _show(tried: list[Tried]) -> None:
    shown = table(f"{len(tried):,} tried", "id", "from", "became", "why")
    for record, outcome in tried:
        became = cell("nothing", "red") if outcome.observation is None else cell(short(outcome.observation), "green")
        shown.add_row(cell(short(record.id), "bold"), cell(place(record.source)), became, cell(outcome.reason))
    out.print(shown)
