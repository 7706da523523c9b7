"""What a person puts on the tape while others are at work on the home: they take it in, or it waits for them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from casetape.turn import FILE
from tests.acceptance.command import command, environment
from tests.acceptance.words import CASE, Home
from tests.faults.up.house import House

JUDGE = ["judge", CASE, "--verdict", "suspicious", "--why", "x", "--by", "ada", "--request-id", "r-1", "--json"]
REPLY = ["reply", CASE, "it is bad", "--by", "ada", "--request-id", "r-1", "--json"]
VERBS = pytest.mark.parametrize("verb", [JUDGE, REPLY], ids=["judge", "reply"])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Home:
    made = Home(tmp_path_factory.mktemp("told"))
    made.told("odd")
    return made


@pytest.fixture
def home(tmp_path: Path, told: Home) -> Home:
    return told.copied(tmp_path)


@contextmanager
def occupied(home: Home) -> Iterator[None]:
    """The home's turn is taken, and whoever has it takes nothing in."""
    handle = os.open(home.home / FILE, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def started(home: Home, *args: str, stdin: int | None = None) -> subprocess.Popen[bytes]:
    """A command under way."""
    return subprocess.Popen(
        command(*args),
        env=environment(home.home, home.env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@VERBS
def test_what_nobody_takes_in_is_queued(home: Home, verb: list[str]) -> None:
    with occupied(home):
        answer = home(*verb, "--wait", "0")
        assert (answer.json["queued"], answer.json["repeated"], answer.json["number"]) == (True, False, 1)
        assert "will take it in" in answer.err
        assert home(*verb, "--wait", "0").json["queued"]
    assert home("run", "--json").json["versions"] == 1
    after = home(*verb).json
    assert (after["queued"], after["repeated"], after["number"]) == (False, True, 2)


@VERBS
def test_once_the_home_is_free_it_works_it_off_itself(home: Home, verb: list[str]) -> None:
    """Also where the one before it had ended before it could have taken it in."""
    with occupied(home):
        asked = started(home, *verb, "--wait", "200")
        assert asked.stderr is not None
        assert b"is at work on" in asked.stderr.readline()
        assert asked.poll() is None
    out, err = asked.communicate(timeout=120)
    assert asked.returncode == 0, err
    answer = json.loads(out)
    assert (answer["queued"], answer["number"]) == (False, 2)
    assert answer["assessment"]["verdict"] == ("suspicious" if verb is JUDGE else "malicious")


@VERBS
def test_a_run_that_is_at_work_takes_it_in(home: Home, verb: list[str]) -> None:
    """The run waits for more input all the while."""
    going = started(home, "run", "-", "--kind", "text", "--json", stdin=subprocess.PIPE)
    assert going.stdin is not None
    assert going.stdout is not None
    going.stdin.write(b"something\n")
    going.stdin.flush()
    while (home.home / FILE).read_text() != "run" or not _held(home):
        assert going.poll() is None
    answer = home(*verb, "--wait", "200").json
    assert going.poll() is None, "it was not the end of the run that set us free"
    assert (answer["queued"], answer["number"]) == (False, 2)
    assert answer["assessment"]["verdict"] == ("suspicious" if verb is JUDGE else "malicious")
    out, err = going.communicate(timeout=120)
    assert going.returncode == 0, err
    report = json.loads(out)
    assert report["versions"] == 2, "the case's and the note's"


@VERBS
def test_up_takes_it_in(home: Home, verb: list[str]) -> None:
    with House(home.home, env=home.env) as house:
        house.ready()
        answer = home(*verb, "--wait", "200").json
        assert house.process.poll() is None
        assert (answer["queued"], answer["number"]) == (False, 2)
        assert answer["assessment"]["verdict"] == ("suspicious" if verb is JUDGE else "malicious")
        house.stop()


def _held(home: Home) -> bool:
    handle = os.open(home.home / FILE, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
