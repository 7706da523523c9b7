"""`casetape rebuild`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from casetape.cli.common import FAILED, AsJson, Home, out, print_json, settings, tell, verb
from casetape.cli.render import cell, count
from casetape.opening import working
from casetape.repairing import may_be_made_anew
from merge.rebuild import rebuild as make_anew
from merge.verify import verify


@verb
def rebuild(
    check: Annotated[bool, typer.Option("--verify", help="Verify every case afterwards; exit 1 for a fault.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where services are at work, or the tape knows less than the store.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make the store anew from the tape: every case with the same numbers and ids. Stop the services before."""
    chosen = settings(home=home)
    with working(chosen, create=False) as engine:
        if not force:
            may_be_made_anew(engine, chosen.session, tell)
        done = make_anew(engine)
        report = verify(engine.store, engine.log, None) if check else None
    faults = [] if report is None else report.faults
    if as_json:
        verified = {} if report is None else {"verified": report.cases, "faults": [one._asdict() for one in faults]}
        print_json({**asdict(done), **verified})
    else:
        what = f"{count(done.cases, 'case')}, {count(done.versions, 'version')}"
        out.print(cell(f"made anew: {what} out of {count(done.records, 'record')}, {done.repeats:,} of them repeats"))
        if done.left_out:
            left = f"{count(done.left_out, 'record')} of `states` left out, which stand on no line"
            out.print(cell(f"{left}: what they brought is merged again", "yellow"))
        if report is not None and report.ok:
            out.print(cell(f"verified: {count(report.cases, 'case')}, no faults", "green"))
    if faults:
        tell(f"casetape: {count(len(faults), 'fault')} found: `casetape cases verify` names them")
        raise typer.Exit(FAILED)
