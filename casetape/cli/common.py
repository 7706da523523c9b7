"""What the verbs share: options, output, and how an error is told. Data goes to stdout, all else to stderr."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar

import typer
from rich.console import Console

from casetape import opening
from casetape.cli.render import json_text, plain
from casetape.settings import Settings, load
from engines.engine import Engine
from schemas.errors import CasetapeError, UsageError

FAILED, USAGE = 1, 2
INTERRUPTED = 130
WIDTH = 120
"""Columns of a table that goes to no terminal, unless COLUMNS says otherwise."""

P = ParamSpec("P")
T = TypeVar("T")

Home = Annotated[Path | None, typer.Option("--home", help="The data folder (CASETAPE_HOME).", show_default=False)]
Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant (CASETAPE_TENANT).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

out = Console(soft_wrap=False, width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDTH)
err = Console(stderr=True)

_globals: dict[str, Any] = {}


def remember(**flags: Any) -> None:
    """Keeps flags that were given before the verb."""
    _globals.update({name: value for name, value in flags.items() if value is not None})


def settings(**flags: Any) -> Settings:
    """The settings with these flags (None: not given). Raises SettingsError."""
    return load({**_globals, **{name: value for name, value in flags.items() if value is not None}})


def reading(chosen: Settings) -> Engine:
    """The engine of a home that must be there, opened to look at it only."""
    return opening.reading(chosen)


def reading_if_any(chosen: Settings) -> Engine | None:
    """The same, or None for a folder that is there and has nothing in it yet."""
    return None if opening.is_empty(chosen) else reading(chosen)


def writing(chosen: Settings) -> Engine:
    """The engine of a home that must be there."""
    return opening.working(chosen, create=False)


def print_json(value: object) -> None:
    """One JSON document, indented for a person and the same for a program."""
    sys.stdout.write(json_text(value) + "\n")


def tell(sentence: str) -> None:
    """A sentence about what goes on."""
    err.print(plain(sentence), style="yellow", markup=False, highlight=False, soft_wrap=True)


def verb(command: Callable[P, T]) -> Callable[P, T]:
    """Tells a verb's errors as one sentence: exit code 2 where the request was wrong, 1 where it could not be done."""

    @functools.wraps(command)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except CasetapeError as error:
            err.print(plain(f"casetape: {error}"), style="red", markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit(USAGE if isinstance(error, UsageError) else FAILED) from None
        except KeyboardInterrupt:
            tell("casetape: interrupted; what was done is kept, run it again to go on")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # whoever read our output has left: there is nobody to tell
            sys.stdout = None
            raise typer.Exit(FAILED) from None

    return told
