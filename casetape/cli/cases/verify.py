"""`casetape cases verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from casetape.cli.cases.line import key_of
from casetape.cli.common import FAILED, AsJson, Home, out, print_json, reading, settings, tell, verb
from casetape.cli.render import cell, count, table
from merge.verify import Report
from merge.verify import verify as verify_cases


@verb
def verify(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="One case; all of them, when left out.", show_default=False)
    ] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Compute chain and contents anew, and compare them with the tape. Exit 1 where anything does not verify."""
    key = None if case is None else key_of(case)
    with reading(settings(home=home)) as engine:
        report = verify_cases(engine.store, engine.log, key)
    if as_json:
        print_json(
            {
                "verified": report.cases,
                "versions": report.versions,
                "contents": report.contents,
                "unpublished": report.unpublished,
                "pruned": report.pruned,
                "trimmed": report.trimmed,
                "faults": [one._asdict() for one in report.faults],
            }
        )
    else:
        _show(report)
    if not report.ok:
        tell(f"casetape: {count(len(report.faults), 'fault')} found")
        raise typer.Exit(FAILED)


def _show(report: Report) -> None:
    what = (count(report.cases, "case"), count(report.versions, "version"), count(report.contents, "content"))
    out.print(cell(f"verified: {', '.join(what)}"))
    if report.unpublished:
        out.print(cell(f"{count(report.unpublished, 'version')} not yet published to `states`"))
    if report.pruned:
        out.print(cell(f"{count(report.pruned, 'version')} read from `states`: the store keeps newer ones only"))
    for topic, gone in report.trimmed.items():
        out.print(cell(f"not vouched for: what only {count(gone, 'record')} trimmed from `{topic}` could tell"))
    if report.ok:
        out.print(cell("no faults", "green"))
        return
    shown = table(count(len(report.faults), "fault"), "case", "version", "what", right=("version",))
    for one in report.faults:
        shown.add_row(cell(one.case), "-" if one.number is None else str(one.number), cell(one.what, "red"))
    out.print(shown)
