"""Fail points kill for good, at just the pass that was asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines.failpoints import VARIABLE

ROOT = Path(__file__).parents[3]
PROGRAM = """
import atexit
from engines.failpoints import fail_point

atexit.register(print, "ended in order")
try:
    for number in range(1, 6):
        print(number, flush=True)
        fail_point("merger.other")
        fail_point("merger.committed")
finally:
    print("done", flush=True)
"""


def passes(asked: str | None) -> tuple[int, list[str]]:
    """How the child ended, and the lines it printed."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if asked is not None:
        environment[VARIABLE] = asked
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return child.returncode, child.stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("asked", "last"), [("merger.committed", 1), ("merger.committed:1", 1), ("merger.committed:3", 3)]
)
def test_the_process_dies_at_that_pass(asked: str, last: int) -> None:
    """Neither `finally` nor an exit handler runs."""
    assert passes(asked) == (-signal.SIGKILL, [str(number) for number in range(1, last + 1)])


@pytest.mark.parametrize("asked", [None, "", "merger.committed:6", "merger.commit", "merger.committed.after:1"])
def test_else_it_lives(asked: str | None) -> None:
    assert passes(asked) == (0, ["1", "2", "3", "4", "5", "done", "ended in order"])
