"""The command line: one file a verb."""

from __future__ import annotations

import io
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from casetape.cli.cases import app as cases
from casetape.cli.common import Home, remember
from casetape.cli.demo import demo
from casetape.cli.detector import app as detector
from casetape.cli.doctor import doctor
from casetape.cli.feed import feed
from casetape.cli.groups import app as groups
from casetape.cli.home import home as home_verb
from casetape.cli.judge import judge
from casetape.cli.lag import lag
from casetape.cli.quarantine import app as quarantine
from casetape.cli.rebuild import rebuild
from casetape.cli.reply import reply
from casetape.cli.run import run
from casetape.cli.status import status
from casetape.cli.topics import app as topics
from casetape.cli.up import up
from casetape.cli.worker import merger, worker

app = typer.Typer(
    name="casetape",
    help="Turns a stream of security observations into cases whose history cannot be lost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command()(up)
app.command()(worker)
app.command()(merger)
app.command()(feed)
app.command()(reply)
app.command()(judge)
app.command()(status)
app.command()(lag)
app.command()(doctor)
app.command()(rebuild)
app.command("home")(home_verb)
app.command()(demo)
app.add_typer(cases, name="cases")
app.add_typer(quarantine, name="quarantine")
app.add_typer(detector, name="detector")
app.add_typer(topics, name="topics")
app.add_typer(groups, name="groups")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"casetape {version('casetape')}\n")
        raise typer.Exit


@app.callback()
def root(
    home: Home = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Turns a stream of security observations into cases whose history cannot be lost."""
    remember(home=home)


def _ended(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """The console script."""
    signal.signal(signal.SIGTERM, _ended)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # JSON is UTF-8 whatever the locale says, and no sign in a table may end a verb
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app()
