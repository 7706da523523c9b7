"""I7: a follower that is killed at any of its points, and logs that are rotated before it is back: nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from engines.failpoints import VARIABLE
from engines.topics import OBSERVATIONS
from tests.faults.feed.feeding import PARTITIONS, ROOT, conn, engine, feed, quarantine, tape
from tests.faults.feed.following import pack
from workers.feed.options import FeedCounts

GOOD = 4_500
BAD = {at: conn(at)[:-3] + b"\n" for at in (100, 2100, 4400)}
SECONDS = 120


def follow(home: Path, logs: Path, fail_at: str | None = None) -> subprocess.Popen[bytes]:
    """Starts `casetape feed --follow` as a user would; `fail_at` names where it dies."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CASETAPE_")}
    environment |= {"PYTHONPATH": str(ROOT), "CASETAPE_PARTITIONS": str(PARTITIONS)}
    if fail_at is not None:
        environment[VARIABLE] = fail_at
    options = ["--follow", "--interval", "0.02", "--json", "--home", str(home)]
    command = [sys.executable, "-m", "casetape", "feed", str(logs), *options]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(said: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Waits until something is so, as long as the process lives."""
    end = time.monotonic() + SECONDS
    while not said():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def on_tape(home: Path) -> int:
    """How many records the tape has, repeats included."""
    with engine(home) as opened:
        return sum(opened.log.end_offsets(OBSERVATIONS).values())


def grown(home: Path, before: int) -> bool:
    """Whether the tape has more records than before."""
    return on_tape(home) > before


def ended(process: subprocess.Popen[bytes]) -> FeedCounts:
    """The counts of a follower that is told to end."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    counts = FeedCounts(**json.loads(out))
    assert counts.closes
    return counts


@pytest.mark.parametrize("point", ["feed.read", "feed.appended", "feed.quarantined", "feed.recorded"])
@pytest.mark.parametrize("rotation", ["none", "renamed", "packed"])
def test_killed_anywhere_rotated_and_started_again(tmp_path: Path, point: str, rotation: str) -> None:
    home, logs = tmp_path / "home", tmp_path / "logs"
    logs.mkdir()
    log = logs / "conn.log"
    log.write_bytes(b"".join(BAD.get(at, b"") + conn(at) for at in range(GOOD)))
    killed = follow(home, logs, f"{point}:2")
    assert killed.wait(SECONDS) == -signal.SIGKILL
    if rotation != "none":
        old = log.rename(logs / "conn.1.log")
        if rotation == "packed":
            os.utime(pack(old), (1.5e9, 1.5e9))
        log.write_bytes(conn(GOOD))
    else:
        with log.open("ab") as more:
            more.write(conn(GOOD))
    again = follow(home, logs)
    until(lambda: on_tape(home) > GOOD and len({one.id for one in tape(home)}) == GOOD + 1, again)
    counts = ended(again)
    assert counts.read == GOOD + 1 + len(BAD)
    assert counts.already_fed == (4000 if point == "feed.recorded" else 2000)
    assert {one.record.data for one in quarantine(home)} == {bad[:-1] for bad in BAD.values()}
    assert sum(feed(home, path).appended for path in logs.iterdir()) == 0


def test_killed_at_any_moment_while_logs_are_written_and_rotated(tmp_path: Path) -> None:
    home, logs = tmp_path / "home", tmp_path / "logs"
    logs.mkdir()
    written = 0
    for life in range(6):
        follower = follow(home, logs)
        for _ in range(4):
            before = on_tape(home)
            for stream in ("conn", "dns"):
                with (logs / f"{stream}.log").open("ab") as log:
                    log.write(b"".join(conn(written + at, _path=stream) for at in range(50)))
                written += 50
            until(partial(grown, home, before), follower)
            if life % 2:
                (logs / "conn.log").rename(logs / f"conn.{written}.log")
        if life == 3:
            pack(logs / f"conn.{written}.log")
        follower.kill()
        follower.communicate()
    last = follow(home, logs)
    assert last.stderr is not None
    assert b"Ctrl-C ends it" in last.stderr.readline()
    until(lambda: len({one.id for one in tape(home)}) == written, last)
    assert ended(last).quarantined == 0
