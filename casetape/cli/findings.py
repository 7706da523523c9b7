"""What was looked over, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from casetape.cli.common import FAILED, out, print_json
from casetape.cli.render import cell, plain
from engines.checkup import Finding

_STYLES = {"ok": "green", "warning": "yellow", "fault": "bold red"}


def report(found: Sequence[Finding], *, as_json: bool) -> None:
    """Prints one line each, or JSON. Ends the verb with exit code 1 where one of them is a fault."""
    if as_json:
        print_json([one._asdict() for one in found])
    else:
        for one in found:
            line = cell(f"{one.level:8}", _STYLES[one.level]).append(plain(f"{one.about}: {one.words}"))
            out.print(line, soft_wrap=True)
    if any(one.level == "fault" for one in found):
        raise typer.Exit(FAILED)
