"""`casetape status`."""

from __future__ import annotations

from typing import Any

import typer

from casetape.cli.common import FAILED, AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.render import cell, count, plain, table, when
from casetape.run import now
from casetape.standing import ServiceStanding
from casetape.status import Status, status_of
from schemas.scales import SECOND, rfc3339

_STYLES = {"ok": "green", "down": "dim", "starting": "yellow", "degraded": "bold red"}


@verb
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Show how it is going: exit 0 where `casetape up` (or, on a cluster, workers and mergers) is at work and all is
    well, else 1."""
    chosen = settings(home=home)
    with reading(chosen) as engine:
        found = status_of(chosen, engine)
    if as_json:
        print_json(_json(found))
    else:
        _show(found, chosen.engine)
    if found.health != "ok":
        raise typer.Exit(FAILED)


def _json(found: Status) -> dict[str, Any]:
    noted = found.standing
    return {
        "health": found.health,
        "why": list(found.why),
        "holder": found.verb,
        "pid": None if noted is None else noted.pid,
        "since": None if noted is None else rfc3339(noted.since),
        "follows": [] if noted is None else list(noted.follows),
        "services": [] if noted is None else [_service(one) for one in noted.services],
        "waiting": found.waiting,
        "members": dict(found.members),
        "counts": {name: getattr(found.counts, name) for name in found.counts.__struct_fields__},
        "newest_version_at": None if found.newest is None else rfc3339(found.newest),
    }


def _service(one: ServiceStanding) -> dict[str, Any]:
    since = None if one.since is None else rfc3339(one.since)
    return {"name": one.name, "pid": one.pid, "since": since, "restarts": one.restarts, "last": one.last}


def _show(found: Status, engine: str) -> None:
    noted = found.standing
    nobody = "nobody serves this home: `casetape up` does"
    if engine == "cluster":
        nobody = "nobody is at work: `casetape worker` and `casetape merger` are what works here"
    head = {"run": "a run is at work"}.get(found.verb or "", nobody)
    if found.verb is None and any(found.members.values()):
        head = ", ".join(f"{number} in group {group}" for group, number in found.members.items())
    if noted is not None:
        hours = (now() - noted.since) / SECOND / 3600
        head = f"up since {when(noted.since, whole=True)} ({hours:,.1f} h), process {noted.pid}"
    out.print(cell(f"{found.health}: ", _STYLES[found.health]).append(plain(head)))
    for sentence in found.why:
        out.print(cell(f"  {sentence}", "red"))
    if noted is not None:
        made = table("", "service", "process", "since", "restarts", "stopped last", right=("process", "restarts"))
        for one in noted.services:
            since = when(one.since, whole=True)
            made.add_row(cell(one.name), str(one.pid or "-"), since, str(one.restarts), cell(one.last or ""))
        out.print(made)
        for path in noted.follows:
            out.print(cell(f"follows {path}"))
    waiting = ", ".join(f"{group} {number:,}" for group, number in found.waiting.items() if number)
    out.print(cell(f"to handle: {waiting or 'nothing'} (`casetape lag` for each partition)"))
    counts = found.counts
    out.print(
        cell(
            f"handled so far: {count(counts.consumed, 'record')} = {counts.new:,} new + {counts.duplicate:,} duplicates"
            f" + {counts.quarantined:,} quarantined; of the new ones {counts.late:,} late, {counts.untimed:,} untimed;"
            f" {count(counts.faults, 'failure')} of plug-ins"
        )
    )
    out.print(cell(f"newest version: {when(found.newest, whole=True)}"))
