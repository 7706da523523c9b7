"""`casetape quarantine`: one file a verb."""

from __future__ import annotations

import typer

from casetape.cli.quarantine.listing import listing
from casetape.cli.quarantine.requeue import requeue
from casetape.cli.quarantine.show import show

app = typer.Typer(help="Look at what could not be used, and try it again.", no_args_is_help=True)
app.command("list")(listing)
app.command()(show)
app.command()(requeue)
