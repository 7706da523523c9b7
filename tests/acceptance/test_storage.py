"""A full disk and a home that cannot be written: a clear error, nothing lost, and it goes on afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.command import DAY1, DAY2, casetape, command, environment, picture, run
from tests.acceptance.logs import both_days, write

pytestmark = [
    pytest.mark.needs_root,
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare"),
]


def _quoted(*args: str | Path) -> str:
    return " ".join(f"'{one}'" for one in command(*args))


def _in_namespace(script: str, home: Path) -> None:
    """Runs a shell script in a mount namespace of its own, so that its mounts are gone with it."""
    subprocess.run(["unshare", "-m", "sh", "-ec", script], check=True, timeout=240, env=environment(home, {}))


def test_a_full_disk(tmp_path: Path) -> None:
    """The run stops with exit 1 and says why; with room made, the same command ends the work."""
    home, saved = tmp_path / "small", tmp_path / "saved"
    home.mkdir()
    log = write(tmp_path / "both.json", both_days())
    going = _quoted("run", log)
    _in_namespace(
        f"""
        mount -t tmpfs -o size=900k tmpfs '{home}'
        set +e
        {going} >'{tmp_path}/out' 2>'{tmp_path}/err'; echo $? >'{tmp_path}/code'
        set -e
        mount -o remount,size=200m '{home}'
        {going} --json >'{tmp_path}/again'
        cp -r '{home}' '{saved}'
        """,
        home,
    )
    err = (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text().strip() == "1", err
    assert "no room" in err
    assert "Traceback" not in err
    run(tmp_path / "roomy", log)
    assert picture(saved) == picture(tmp_path / "roomy")
    assert casetape(saved, "cases", "verify", "--json").json["faults"] == []


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    """Looking works, writing is refused in one sentence, and nothing is harmed."""
    home = tmp_path / "home"
    run(home, DAY1)
    before = picture(home)
    _in_namespace(
        f"""
        mount --bind '{home}' '{home}'
        mount -o remount,bind,ro '{home}'
        {_quoted("cases", "list", "--json")} >'{tmp_path}/list'
        set +e
        {_quoted("run", DAY2)} >'{tmp_path}/out' 2>'{tmp_path}/err'; echo $? >'{tmp_path}/code'
        """,
        home,
    )
    err = (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text().strip() == "1", err
    assert "cannot be written" in err
    assert "Traceback" not in err
    assert (tmp_path / "list").read_text() == casetape(home, "cases", "list", "--json").out
    assert picture(home) == before
    run(home, DAY2)
    assert len(picture(home)) > len(before)


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    """A read-only parent folder: nothing can be put there at all."""
    parent = tmp_path / "parent"
    parent.mkdir()
    _in_namespace(
        f"""
        mount -t tmpfs -o ro tmpfs '{parent}'
        set +e
        {_quoted("run", DAY1)} >'{tmp_path}/out' 2>'{tmp_path}/err'; echo $? >'{tmp_path}/code'
        """,
        parent / "home",
    )
    err = (tmp_path / "err").read_text()
    assert (tmp_path / "code").read_text().strip() == "1", err
    assert str(parent) in err
    assert "Traceback" not in err
