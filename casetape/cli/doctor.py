"""`casetape doctor`."""

from __future__ import annotations

import typer

from casetape.cli.common import FAILED, AsJson, Home, print_json, settings, verb
from casetape.cli.findings import findings_json, show_findings
from casetape.doctoring import look_over


@verb
def doctor(home: Home = None, as_json: AsJson = False) -> None:
    """Look over what everything stands on: what is reached, its version, settings that would lose data, strays. Exit 1
    where something does not work or loses data."""
    found = look_over(settings(home=home))
    if as_json:
        print_json(findings_json(found))
    else:
        show_findings(found)
    if any(one.level == "fault" for one in found):
        raise typer.Exit(FAILED)
