"""casetape as a user starts it: a process, its exit code, and what it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.topics import DEFAULT_PARTITIONS
from tests.engine import variables

SECONDS = 240
DATA = Path(__file__).parents[1] / "fixtures" / "apt29-zeek"
DAY1, DAY2 = DATA / "day1.zeek.json.gz", DATA / "day2.zeek.json.gz"


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON, of a command that succeeded."""
        assert self.code == 0, self.err
        return json.loads(self.out)


def environment(home: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command: ours without casetape's variables, and with this home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CASETAPE_")}
    partitions = int(extra.get("CASETAPE_PARTITIONS", DEFAULT_PARTITIONS))
    return {**kept, "CASETAPE_HOME": str(home), **variables(home, partitions), **extra}


def command(*args: str | Path) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "casetape", *map(str, args)]


def casetape(home: Path, *args: str | Path, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> Answer:
    """Runs `casetape ARGS` on a home and waits for it."""
    done = subprocess.run(
        command(*args),
        input=b"" if stdin is None else stdin,
        capture_output=True,
        timeout=SECONDS,
        env=environment(home, env or {}),
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def run(home: Path, *args: str | Path) -> dict[str, Any]:
    """`casetape run --json ARGS`, which must succeed."""
    report: dict[str, Any] = casetape(home, "run", "--json", *args).json
    return report


def closes(report: Mapping[str, Any]) -> bool:
    """Whether a run's counts close (I7)."""
    came = report["fed"] + report["backlog"]
    return bool(came == report["recorded"] + report["duplicates"] + report["quarantined"])


def picture(home: Path) -> dict[str, Any]:
    """What must be the same whatever happened on the way: of each case the current analyses and the assessment."""
    seen = {}
    for key, case in shown(home).items():
        analyses = sorted(one["id"] for one in case["analyses"])
        seen[key] = {"analyses": analyses, "assessment": case["assessment"]}
    return seen


def shown(home: Path) -> dict[str, Any]:
    """By key: what `cases show` says of every case."""
    keys = [row["key"] for row in casetape(home, "cases", "list", "--json").json]
    done = subprocess.run(
        [sys.executable, "-m", "tests.acceptance.many"],
        input=json.dumps([["cases", "show", key, "--json"] for key in keys]).encode(),
        capture_output=True,
        timeout=SECONDS,
        env=environment(home, {}),
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return {key: json.loads(printed) for key, printed in zip(keys, json.loads(done.stdout), strict=True)}


def current(home: Path) -> list[dict[str, Any]]:
    """All current analyses of all cases, each with its `case`."""
    return [{**one, "case": key} for key, case in shown(home).items() for one in case["analyses"]]
