"""Where output goes: data to standard output, without colours where nobody sees them, and from a home that cannot be
written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape, environment
from tests.acceptance.command import command

VERBS = [
    ["cases", "list"],
    ["cases", "show", story.CASE],
    ["cases", "history", story.CASE],
    ["cases", "diff", story.CASE, "1", "3"],
    ["cases", "verify"],
    ["cases", "export", story.CASE],
    ["quarantine", "list"],
    ["detector", "list"],
]
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return story.tell(tmp_path_factory.mktemp("output") / "home")


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_pipe_gets_no_colours(home: Path, verb: list[str]) -> None:
    answer = casetape(home, *verb)
    assert answer.code == 0
    assert answer.err == ""
    assert "\x1b" not in answer.out
    assert answer.out


def test_a_table_in_a_pipe_is_wide_unless_told_otherwise(home: Path) -> None:
    def width(**env: str) -> int:
        return max(map(len, casetape(home, "cases", "show", story.CASE, env=env).out.splitlines()))

    assert 80 < width() <= 120
    assert width(COLUMNS="60") <= 60


def test_nothing_is_cut_where_there_is_little_room(home: Path) -> None:
    out = casetape(home, "cases", "history", story.CASE, env={"COLUMNS": "40"}).out
    assert out.count("\u2026") == 3, "one behind the id of each version, which may be folded"


def test_a_locale_without_the_signs_of_our_tables_ends_no_verb(home: Path) -> None:
    for verb in (["cases", "show", story.CASE], ["cases", "history", story.CASE, "--json"]):
        assert casetape(home, *verb, env={"PYTHONIOENCODING": "ascii"}) == casetape(home, *verb)


@pytest.mark.needs_root
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts need root on Linux")
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_home_that_cannot_be_written_can_be_read(home: Path, verb: list[str]) -> None:
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", home, *command(*verb)],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == casetape(home, *verb).out


@pytest.mark.needs_root
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts need root on Linux")
def test_what_must_write_says_that_it_cannot(home: Path) -> None:
    verbs = (["cases", "reassess", story.CASE, "--policy", "worst"], ["quarantine", "requeue", "--all"])
    for verb in verbs:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", home, *command(*verb)],
            env=environment(home),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{home} cannot be written" in done.stderr


def test_whoever_stops_reading_is_no_fault(home: Path) -> None:
    """`casetape cases export X | head -c 1` ends quietly."""
    process = subprocess.Popen(
        command("cases", "export", story.CASE),
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 1
