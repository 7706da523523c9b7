"""I7: a feed that is killed at any of its points loses nothing, and two that race do no harm."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.faults.feed.feeding import conn, feed, notes, quarantine, start, tape
from workers.feed.options import FeedCounts

GOOD = 4_500
BAD = {at: conn(at)[:-3] + b"\n" for at in (100, 2100, 4400)}
PIECES = 3
"""So many batches of 2,000 lines the file makes."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "conn.log"
    path.write_bytes(b"".join(BAD.get(at, b"") + conn(at) for at in range(GOOD)))
    return path


@pytest.mark.parametrize("number", range(1, PIECES + 1))
@pytest.mark.parametrize("point", ["feed.read", "feed.appended", "feed.quarantined", "feed.recorded"])
def test_killed_anywhere_and_started_again_every_line_is_on_the_tape(
    tmp_path: Path, log: Path, point: str, number: int
) -> None:
    home = tmp_path / "home"
    killed = start(home, log, f"{point}:{number}")
    assert killed.wait() == -signal.SIGKILL
    done = number if point == "feed.recorded" else number - 1
    counts = feed(home, log)
    assert counts.read == GOOD + len(BAD)
    assert counts.already_fed == min(done * 2000, counts.read)
    assert len({one.id for one in tape(home)}) == GOOD
    assert sorted(one.record.data for one in quarantine(home)) == sorted(bad[:-1] for bad in BAD.values())
    assert feed(home, log) == FeedCounts(read=counts.read, already_fed=counts.read)
    assert len(notes(home)) == 1


def test_two_feeders_racing_on_one_file(tmp_path: Path, log: Path) -> None:
    home = tmp_path / "home"
    feed(home, _empty(tmp_path))
    both = [start(home, log), start(home, log)]
    counts = [FeedCounts(**json.loads(one.communicate()[0])) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert all(one.closes and one.read == GOOD + len(BAD) for one in counts)
    assert len({one.id for one in tape(home)}) == GOOD
    assert len(quarantine(home)) == len(BAD)
    assert len(notes(home)) == 1
    assert feed(home, log).already_fed == GOOD + len(BAD)


def _empty(folder: Path) -> Path:
    path = folder / "empty.log"
    path.touch()
    return path
