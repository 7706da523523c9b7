"""SIGKILL of worker processes at every named fail point, then a restart: everything comes to the same."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines.failpoints import VARIABLE
from tests.faults.detection.pipeline import Outcome, Pipeline

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

POINTS = {
    "worker.assigned": (1, 3),
    "worker.looked": (1, 2),
    "worker.published": (1, 4),
    "worker.quarantined": (1, 2),
    "worker.parts": (1, 6),
    "worker.snapshot": (1, 7),
    "worker.concluded": (1, 3),
    "host.committed": (1, 2),
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Outcome:
    pipeline = Pipeline(tmp_path_factory.mktemp("undisturbed")).fed().started()
    outcome = pipeline.finish()
    assert pipeline.told == []
    assert sum(map(len, outcome.analyses.values())) > 30
    assert outcome.assessments.keys() == outcome.analyses.keys()
    assert len(outcome.quarantined) == outcome.counts.faults > 5
    assert outcome.counts.consumed == 2_140 == outcome.counts.new
    return outcome


@pytest.mark.parametrize(("point", "passes"), [(point, each) for point, both in POINTS.items() for each in both])
def test_a_kill_at_any_fail_point_changes_nothing(
    tmp_path: Path, undisturbed: Outcome, monkeypatch: pytest.MonkeyPatch, point: str, passes: int
) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}:{passes}")
    pipeline = Pipeline(tmp_path).fed().started()
    assert pipeline.finish() == undisturbed
    assert any(told.startswith("worker 1 stopped (exit code -9)") for told in pipeline.told)


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_that_are_killed_again_and_again(tmp_path: Path, undisturbed: Outcome, workers: int) -> None:
    """Each time a snapshot has moved on, another process is killed, the merger among them."""
    pipeline = Pipeline(tmp_path).fed().started(workers)
    killed: list[str] = []
    last = -1

    def kills() -> bool:
        nonlocal last
        if pipeline.consumed() > last and len(killed) < 6:
            last = pipeline.consumed()
            pids = pipeline.supervisor.pids()
            name = sorted(pids)[len(killed) % len(pids)]
            os.kill(pids[name], signal.SIGKILL)
            killed.append(name)
        return pipeline.concluded()

    pipeline.until(kills)
    assert pipeline.finish() == undisturbed
    assert len(killed) > 2
    assert len(pipeline.told) >= len(set(killed))


@pytest.mark.parametrize("workers", [2, 4])
def test_more_workers_say_the_same(tmp_path: Path, undisturbed: Outcome, workers: int) -> None:
    assert Pipeline(tmp_path).fed().started(workers).finish() == undisturbed
