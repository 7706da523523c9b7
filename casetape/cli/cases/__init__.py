"""`casetape cases`: one file a verb."""

from __future__ import annotations

import typer

from casetape.cli.cases.diff import diff
from casetape.cli.cases.export import export
from casetape.cli.cases.history import history
from casetape.cli.cases.listing import listing
from casetape.cli.cases.reassess import reassess
from casetape.cli.cases.show import show
from casetape.cli.cases.verify import verify

app = typer.Typer(help="Look at cases and their history.", no_args_is_help=True)
app.command("list")(listing)
app.command()(show)
app.command()(history)
app.command()(diff)
app.command()(verify)
app.command()(reassess)
app.command()(export)
