"""`casetape up`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from casetape.cli.common import AsJson, Home, Tenant, settings, verb
from casetape.cli.options import Origin, PolicyName, PolicyOptions, Subject, chosen_policy, feed_options, listed
from casetape.cli.render import count
from casetape.cli.stopping import stopping
from casetape.cli.telling import Words
from casetape.settings import Settings
from casetape.up import up as serve
from workers.feed.options import KINDS

WARNING = (
    "this is for one machine: one SQLite file, no copy of it elsewhere, no log-in, nobody who takes over where this"
    " machine fails. It is not for several machines, nor for a network drive. For logs that end use `casetape run`:"
    " live, a window is concluded when its case's clock has passed it by the lateness, or its source has fallen silent."
)

ON_SERVERS = (
    "these are this machine's share of a cluster: more of them on other machines share the work. For logs that end use"
    " `casetape run`: live, a window is concluded when its case's clock has passed it by the lateness, or its source"
    " has fallen silent."
)


@verb
def up(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="FILE|DIR...", help="What to follow; more can be fed meanwhile.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Detection processes.", min=1, max=64)] = None,
    policy: PolicyName = None,
    policy_option: PolicyOptions = None,
    kind: Annotated[str, typer.Option(help=f"Of what is followed: {KINDS}.")] = "auto",
    tenant: Tenant = None,
    subject: Subject = None,
    origin: Origin = None,
    plugins: Annotated[Path | None, typer.Option(help="A folder of plug-in files.")] = None,
    detectors: Annotated[str | None, typer.Option(help="Names, with commas between; all there are by default.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Run all services on this machine until Ctrl-C or SIGTERM; a service that crashes is started again."""
    chosen = settings(
        home=home,
        workers=workers,
        tenant=tenant,
        plugins=plugins,
        origin=origin,
        policy=chosen_policy(policy, policy_option),
        detectors=listed(detectors),
    )
    options = feed_options(chosen, kind, subject)
    say = Words(as_json)
    with stopping() as stop:
        report = serve(
            chosen,
            paths or [],
            options,
            say.told,
            on_start=lambda: say("warning", WARNING if chosen.engine == "embedded" else ON_SERVERS),
            on_ready=lambda: say("ready", _ready(chosen, paths or [])),
            stopped=stop.is_set,
        )
    say(
        "stopped",
        f"stopped: {report.consumed:,} records handled, {report.versions:,} versions, {report.restarts} restarts",
        report=report.to_json(),
    )


def _ready(chosen: Settings, paths: list[str]) -> str:
    follows = f", following {', '.join(paths)}" if paths else "; feed it with `casetape feed`"
    return f"up on {chosen.home}: {count(chosen.workers, 'worker')}, a merger{follows}. Ctrl-C stops it"
