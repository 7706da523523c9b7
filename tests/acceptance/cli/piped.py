"""casetape with its output in a pipe, whatever terminal the tests themselves run in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.acceptance import command

PLAIN = {"COLUMNS": "", "FORCE_COLOR": ""}


def casetape(home: Path, *args: str | Path, env: Mapping[str, str] | None = None) -> command.Answer:
    """Runs `casetape ARGS` on a home and waits for it."""
    return command.casetape(home, *args, env={**PLAIN, **(env or {})})


def environment(home: Path) -> dict[str, str]:
    """The environment of such a command."""
    return command.environment(home, PLAIN)
