"""`casetape feed`."""

from __future__ import annotations

from typing import Annotated

import typer

from casetape.cli.common import FAILED, AsJson, Home, Tenant, print_json, settings, tell, verb
from casetape.cli.options import Origin, Subject
from casetape.cli.progress import progress_bar
from casetape.run import now
from engines import topics
from engines.sqlite import open_engine
from schemas.errors import UsageError
from schemas.keys import case_key
from schemas.scales import parse_rfc3339
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import plan


@verb
def feed(
    path: Annotated[str, typer.Argument(metavar="FILE|-", help="What to feed; `-` is the standard input.")],
    kind: Annotated[str, typer.Option(help="auto, text, zeek or zeek.<stream>.")] = "auto",
    tenant: Tenant = None,
    subject: Subject = None,
    origin: Origin = None,
    at: Annotated[str | None, typer.Option(help="When a text was true: RFC 3339.")] = None,
    request_id: Annotated[str | None, typer.Option(help="Of a text: the same again is the same observation.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="The whole text is one observation, not each line.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 where anything was quarantined.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Put observations on the tape; `casetape run` works them off."""
    chosen = settings(home=home, tenant=tenant, origin=origin)
    options = FeedOptions(
        tenant=chosen.tenant,
        kind=kind,
        subject=subject,
        origin=chosen.origin,
        request_id=request_id,
        at=_time(at),
        whole=whole,
        subjects=chosen.subjects,
    )
    planned = plan([path], options)
    for one in planned.skipped:
        tell(f"left out: {one.path}: {one.reason}")
    counts = FeedCounts()
    with open_engine(chosen.home, session_seconds=chosen.session) as engine:
        for topic in topics.ALL:
            engine.log.create_topic(topic, chosen.partitions)
        with progress_bar(sum(one.size or 0 for one in planned.files) or None) as progress:
            feeder = Feeder(engine.log, engine.store, options, now, on_progress=progress)
            counts = sum(map(feeder.feed_planned, planned.files), counts)
        if subject is not None and engine.store.row(case_key(chosen.tenant, subject)) is None:
            tell(f"there is no case {case_key(chosen.tenant, subject)} yet: the next run makes it")
    _report(counts, as_json)
    if counts.quarantined and strict:
        raise typer.Exit(FAILED)


def _time(text: str | None) -> int | None:
    try:
        return None if text is None else parse_rfc3339(text)
    except ValueError as error:
        raise UsageError(f"--at {text}: not an RFC 3339 time ({error})") from None


def _report(counts: FeedCounts, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "read": counts.read,
                "appended": counts.appended,
                "already_fed": counts.already_fed,
                "quarantined": counts.quarantined,
            }
        )
        return
    tell(f"read {counts.read:,}: {counts.appended:,} appended, {counts.already_fed:,} already fed")
    if counts.quarantined:
        tell(f"{counts.quarantined} quarantined: see `casetape quarantine list`")
