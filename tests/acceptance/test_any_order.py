"""I4: the order of files, streams and lines, how many workers there are, and what dies on the way change nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import DAY1, DAY2, casetape, closes, command, environment, picture, run
from tests.acceptance.logs import both_days, lines, shuffled, write

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> dict[str, Any]:
    """The picture that every other way must lead to."""
    home = tmp_path_factory.mktemp("undisturbed")
    run(home, DAY1, DAY2)
    seen = picture(home)
    assert len(seen) >= 2
    assert all(case["analyses"] for case in seen.values())
    return seen


def test_files_in_the_other_order(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    run(tmp_path, DAY2, DAY1)
    assert picture(tmp_path) == undisturbed


def test_one_file_after_the_other_in_runs_of_their_own(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    run(tmp_path, DAY1)
    run(tmp_path, DAY2)
    assert picture(tmp_path) == undisturbed


def test_the_later_file_in_the_earlier_run(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    run(tmp_path, DAY2)
    run(tmp_path, DAY1)
    assert picture(tmp_path) == undisturbed


def test_streams_in_the_other_order(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """In the recording streams follow one another; here the last one comes first."""
    content = lines(DAY1)[::-1] + lines(DAY2)[::-1]
    report = run(tmp_path / "home", write(tmp_path / "reversed.json", content))
    assert report["late"] == 0, "in a bounded run nothing is late (I10)"
    assert picture(tmp_path / "home") == undisturbed


def test_lines_in_any_order(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    report = run(tmp_path / "home", write(tmp_path / "mixed.json", shuffled(both_days(), 7)))
    assert closes(report)
    assert report["late"] == 0
    assert picture(tmp_path / "home") == undisturbed


@pytest.mark.parametrize("workers", [2, 4])
def test_more_workers(tmp_path: Path, undisturbed: dict[str, Any], workers: int) -> None:
    report = run(tmp_path, DAY1, DAY2, "--workers", str(workers))
    assert closes(report)
    assert picture(tmp_path) == undisturbed


def test_feeding_twice_adds_nothing_and_says_so(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    first = run(tmp_path, DAY1, DAY2)
    again = run(tmp_path, DAY1, DAY2)
    assert again["fed"] == again["duplicates"] == first["fed"]
    assert [again[name] for name in ("recorded", "quarantined", "analyses", "versions", "cases")] == [0] * 5
    assert picture(tmp_path) == undisturbed


def test_the_same_lines_in_another_file_add_nothing(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """The ledger does not know the file; the observations are recognised one by one."""
    home = tmp_path / "home"
    run(home, DAY1, DAY2)
    again = run(home, write(tmp_path / "recut.json", shuffled(both_days(), 3)))
    assert (again["recorded"], again["duplicates"]) == (0, again["fed"])
    assert closes(again)
    assert picture(home) == undisturbed


@pytest.mark.parametrize("seconds", [0.4, 0.8, 1.2])
def test_everything_killed_at_some_moment(tmp_path: Path, undisturbed: dict[str, Any], seconds: float) -> None:
    """SIGKILL of the whole group of processes, wherever they are, then a restart."""
    done = subprocess.Popen(
        command("run", "--workers", "2", DAY1, DAY2),
        env=environment(tmp_path, {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        done.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)
        done.wait()
    report = run(tmp_path, DAY1, DAY2)
    assert closes(report)
    assert picture(tmp_path) == undisturbed
    assert casetape(tmp_path, "cases", "verify", "--json").json["faults"] == []


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in listed]


@pytest.mark.parametrize("nth", [0, 1, 2])
def test_one_child_killed_in_the_middle(tmp_path: Path, undisturbed: dict[str, Any], nth: int) -> None:
    """Each of the two workers, and the merger: the run starts it again, says so, and ends well."""
    going = subprocess.Popen(
        command("run", "--workers", "2", "--json", DAY1, DAY2),
        env=environment(tmp_path, {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 30
    while len(_children(going.pid)) < 3 and time.monotonic() < until:
        time.sleep(0.002)
    os.kill(_children(going.pid)[nth], signal.SIGKILL)
    out, err = going.communicate(timeout=120)
    assert going.returncode == 0, err
    assert b"started again" in err
    assert picture(tmp_path) == undisturbed
    assert out
