"""`casetape doctor`."""

from __future__ import annotations

from casetape.cli.common import AsJson, Home, settings, verb
from casetape.cli.findings import report
from casetape.doctoring import look_over


@verb
def doctor(home: Home = None, as_json: AsJson = False) -> None:
    """Look over what everything stands on: what is reached, its version, settings that would lose data, strays. Exit 1
    where something does not work or loses data."""
    report(look_over(settings(home=home)), as_json=as_json)
