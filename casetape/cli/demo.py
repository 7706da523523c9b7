"""`casetape demo`: the commands that a user would type, run one after the other on data that ships with the package."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from casetape.cli.common import out, verb
from casetape.cli.render import cell
from casetape.settings import CONFIG_VARIABLE, PREFIX
from casetape.turn import FILE as LOCK
from engines.sqlite import FILE, open_engine
from merge.reading import head_number
from schemas.errors import CasetapeError, UsageError
from schemas.keys import case_key

HOME = Path("demo-home")
NAME = "casetape"
DATA = Path(__file__).parents[1] / "demo"
SUBJECT = "host:10.0.1.6"
SENTENCE = "a build server opened outbound connections at 02:00 - nothing is scheduled for that host"
MARK = "casetape.toml"
"""The settings of the demo's home: none, so that a user's own do not change it; and the sign that the demo made it."""
_SETTINGS = "# made by `casetape demo`, which replaces this folder's data when it runs again\n"


@verb
def demo(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Option("--home", help=f"Where its data goes. Default: ./{HOME}", show_default=False)
    ] = None,
) -> None:
    """A real data set and an analyst's sentence become cases with a history, step by step."""
    given = home or (context.parent.params.get("home") if context.parent is not None else None)
    folder: Path = given or HOME
    prepare(folder)
    steps = _Steps(folder)
    steps.run(
        "A sensor's log is fed, searched for beacons, and merged into cases. It ends a minute into something.",
        ["run", str(_short(DATA / "day1-a.zeek.json.gz"))],
    )
    steps.run(
        f"An analyst knows more about {SUBJECT.partition(':')[2]} and says so: the sentence becomes evidence.",
        ["feed", "-", "--subject", SUBJECT],
        piped=SENTENCE,
    )
    steps.run("What lies on the tape is worked off: the sentence becomes a version of the host's case.", ["run"])
    steps.run(
        "The rest of the day and the next one arrive.",
        ["run", str(_short(DATA / "day1-b.zeek.json.gz")), str(_short(DATA / "day2.zeek.json.gz"))],
    )
    steps.run("The cases, worst first:", ["cases", "list"])
    steps.run("One of them as a timeline. Nothing in it was ever overwritten:", ["cases", "history", SUBJECT])
    with open_engine(folder, create=False, read_only=True) as engine:
        newest = head_number(engine.store, case_key("default", SUBJECT))
    steps.run("What changed since version 1:", ["cases", "diff", SUBJECT, "1", str(newest)])
    steps.run("And all of it still is what was written:", ["cases", "verify"])
    at = shlex.quote(str(folder))
    steps.say("Go on by yourself:")
    for verb_of_it in (f"cases show {SUBJECT}", f"cases show {SUBJECT} --at 1", "cases --help"):
        home_of_it = "" if verb_of_it.endswith("--help") else f" --home {at}"
        out.print(cell(f"  {called()} {verb_of_it}{home_of_it}"), soft_wrap=True)


def called() -> str:
    """What a user types to start this casetape: its name where the PATH leads to it, else where it lies."""
    beside = Path(sys.executable).parent / NAME
    found = shutil.which(NAME)
    if found is not None and (not beside.exists() or Path(found).samefile(beside)):
        return NAME
    return shlex.quote(str(_short(beside))) if beside.exists() else f"{shlex.quote(sys.executable)} -m {NAME}"


def prepare(folder: Path) -> None:
    """Makes the demo's home, or empties the one it made before. Raises UsageError for a folder with anything else in
    it, and touches nothing then."""
    mine = {MARK, LOCK, *(FILE + end for end in ("", "-wal", "-shm"))}
    try:
        there = {one.name for one in folder.iterdir()} if folder.exists() else set()
        if there and (MARK not in there or there - mine or (folder / MARK).read_text() != _SETTINGS):
            raise UsageError(f"{folder} holds what the demo did not make: name another folder with --home")
        folder.mkdir(parents=True, exist_ok=True)
        for name in sorted(there - {MARK}):
            (folder / name).unlink()
        (folder / MARK).write_text(_SETTINGS)
    except OSError as error:
        raise UsageError(f"{folder} cannot be the demo's home: {error.strerror}") from error


class _Steps:
    """Runs commands as a user would, and says what they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        self._environment = {**kept, CONFIG_VARIABLE: str(folder.absolute() / MARK)}

    def say(self, sentence: str) -> None:
        """A sentence between the steps."""
        out.print()
        out.print(cell(sentence, "bold green"))

    def run(self, sentence: str, arguments: Sequence[str], *, piped: str | None = None) -> None:
        """Says what comes, shows the command, and runs it. Raises CasetapeError where it fails."""
        self.say(sentence)
        command = [*arguments, "--home", str(self._folder)]
        before = "" if piped is None else f"echo {shlex.quote(piped)} | "
        out.print(cell(f"$ {before}{called()} {shlex.join(command)}", "bold"), soft_wrap=True)
        sys.stdout.flush()
        ended = subprocess.run(  # noqa: S603 - our own command line
            [sys.executable, "-m", "casetape", *command],
            input="" if piped is None else f"{piped}\n",
            env=self._environment,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise CasetapeError(f"the demo stopped: `casetape {arguments[0]}` ended with exit code {ended.returncode}")


def _short(path: Path) -> Path:
    """The path from here, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
