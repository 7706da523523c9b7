"""Who looks after the child processes, and what becomes of them when nobody does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.failpoints import VARIABLE
from schemas.errors import CasetapeError
from tests.faults.detection.pipeline import DAY_ONE, PATIENCE, WORKER, Pipeline
from tests.tree import ROOT
from workers.runtime.supervisor import RESTARTS, ChildFailed, Supervisor

SLOW = """
import os, time
from casetape import Detector
class Slow(Detector):
    name = "slow"
    def detect(self, observation):
        if os.path.exists({flag!r}):
            time.sleep(0.003)
        return None
"""


def wait(done: Callable[[], object], look: Callable[[], object] = lambda: None) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        look()
        assert time.monotonic() < end
        time.sleep(0.02)


def gone(pid: int) -> bool:
    """Whether the process has ended, be it that nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except FileNotFoundError:
        return True


def raised(supervisor: Supervisor) -> CasetapeError:
    """What looking after the children raises in the end."""
    caught: list[CasetapeError] = []

    def look() -> None:
        try:
            supervisor.look_after()
        except CasetapeError as error:
            caught.append(error)

    wait(lambda: caught, look)
    supervisor.stop()
    return caught[0]


def test_a_child_that_keeps_dying_is_given_up(tmp_path: Path) -> None:
    told: list[str] = []
    pipeline = Pipeline(tmp_path)
    supervisor = Supervisor(told.append)
    supervisor.start("worker 1", WORKER, pipeline.options(ends="dies"))
    error = raised(supervisor)
    assert isinstance(error, ChildFailed)
    assert "worker 1 died 11 times in a row (exit code 9)" in str(error)
    assert told == ["worker 1 stopped (exit code 9); it was started again"] * RESTARTS


def test_a_child_without_room_ends_the_run_with_its_own_error(tmp_path: Path) -> None:
    told: list[str] = []
    supervisor = Supervisor(told.append)
    supervisor.start("worker 1", WORKER, Pipeline(tmp_path).options(ends="full"))
    error = raised(supervisor)
    assert (error.code, str(error)) == ("storage_full", "there is no room left, says the test")
    assert told == []


def test_a_fail_point_is_for_the_first_life_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "worker.assigned:1")
    pipeline = Pipeline(tmp_path).fed().started()
    pipeline.finish()
    assert pipeline.told == ["worker 1 stopped (exit code -9); it was started again"]


def test_children_leave_when_they_are_told_to(tmp_path: Path) -> None:
    """What they had read is saved, and the next ones go on."""
    pipeline = Pipeline(tmp_path).fed()
    pipeline.supervisor.start("worker 1", WORKER, pipeline.options())
    pipeline.until(lambda: pipeline.consumed() > 0)
    pids = pipeline.supervisor.pids()
    pipeline.supervisor.stop()
    assert all(gone(pid) for pid in pids.values())
    assert pipeline.told == []
    assert pipeline.supervisor.pids() == {}
    pipeline.started()
    assert pipeline.finish().counts.new == 2_140


def test_children_leave_when_their_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.detection.parent", str(tmp_path)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    pids = json.loads(parent.stdout.readline())
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    wait(lambda: all(gone(pid) for pid in pids))
    parent.stdout.close()
    pipeline = Pipeline(tmp_path).started()
    assert pipeline.finish().counts.new == 2_140


def run(home: Path, plugins: Path) -> subprocess.Popen[bytes]:
    arguments = ["--home", str(home), "--plugins", str(plugins), str(DAY_ONE), "--json"]
    command = [sys.executable, "-m", "casetape", "run", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, start_new_session=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_nobody_and_the_next_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C goes to the whole process group of the terminal; SIGTERM to the parent only."""
    home, plugins, flag = tmp_path / "home", tmp_path / "plugins", tmp_path / "slow"
    plugins.mkdir()
    flag.write_text("")
    (plugins / "slow.py").write_text(SLOW.format(flag=str(flag)))
    first = run(home, plugins)
    wait(lambda: (home / "casetape.db").exists() and _claimed(home))
    (os.killpg if number == signal.SIGINT else os.kill)(first.pid, number)
    _, told = first.communicate(timeout=PATIENCE)
    assert first.returncode not in (0, -number), told
    assert _processes_on(home) == []
    flag.unlink()
    second = run(home, plugins)
    report, told = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, told
    assert Pipeline(home).outcome().counts.new == 2_140
    assert json.loads(report)["faults"] == 0


def _claimed(home: Path) -> bool:
    pipeline = Pipeline(home)
    try:
        return len(pipeline.engine.store.manifests("detect/")) > 0
    finally:
        pipeline.engine.close()


def _processes_on(home: Path) -> list[str]:
    """Whoever has the home's file open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = {os.readlink(one) for one in (process / "fd").iterdir()}
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if str(home / "casetape.db") in opened and process.name != str(os.getpid()):
            found.append(process.name)
    return found
