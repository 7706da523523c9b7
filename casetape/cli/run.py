"""`casetape run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from casetape.cli.common import FAILED, AsJson, Home, Tenant, out, print_json, settings, tell, verb
from casetape.cli.options import Origin, PolicyName, PolicyOptions, Subject, chosen_policy, feed_options, listed
from casetape.cli.progress import progress_bar
from casetape.counting import unused_words
from casetape.run import Listener, RunReport
from casetape.run import run as run_pipeline
from workers.feed.options import KINDS


@verb
def run(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="FILE|DIR...", help="What to feed; nothing: what is on the tape.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Detection processes.", min=1, max=64)] = None,
    policy: PolicyName = None,
    policy_option: PolicyOptions = None,
    kind: Annotated[str, typer.Option(help=f"{KINDS}.")] = "auto",
    tenant: Tenant = None,
    subject: Subject = None,
    origin: Origin = None,
    plugins: Annotated[Path | None, typer.Option(help="A folder of plug-in files.")] = None,
    detectors: Annotated[str | None, typer.Option(help="Names, with commas between; all there are by default.")] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Show all detectors once more what the tape still has.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 where anything was quarantined, refused, or a plug-in failed.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Feed logs, detect, merge; stop when all of it is worked off."""
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
    refused: list[str] = []
    with progress_bar(_size(paths or [])) as progress:
        listener = Listener(progress, tell, refused.append)
        report = run_pipeline(chosen, paths or [], options, listener, replay=replay)
    for sentence in refused:
        tell(sentence)
    if as_json:
        print_json(report.to_json())
    else:
        _show(report)
    if report.quarantined or report.faults:
        tell(f"{unused_words(report.quarantined, report.faults)}: see `casetape quarantine list`")
    if strict and (report.quarantined or report.faults or refused):
        raise typer.Exit(FAILED)


def _size(paths: list[str]) -> int | None:
    """Bytes of all files; None where there are none, or it cannot be known before."""
    if not paths:
        return None
    total = 0
    for path in paths:
        if path == "-":
            return None
        for folder, _, names in os.walk(path) if os.path.isdir(path) else [("", [], [path])]:
            total += sum(os.path.getsize(full) for name in names if os.path.isfile(full := os.path.join(folder, name)))
    return total


def _show(report: RunReport) -> None:
    table = Table(title="run", show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    for name, value in report.to_json().items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    out.print(table)
