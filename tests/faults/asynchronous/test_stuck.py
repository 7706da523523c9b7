"""A process that is alive and does nothing is found out (field report: one partition stopped silently)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.faults.asynchronous.rig import Rig, records
from workers.runtime.supervisor import Supervisor

pytestmark = pytest.mark.needs_services


def test_a_faust_that_fetches_nothing_ends_its_process(rig: Rig) -> None:
    rig.supervisor.stop()
    rig.supervisor = Supervisor(rig.told.append, lasting=True)
    rig.feed(records(0, 8))
    options = rig.options(plugins=str(Path(__file__).parent / "deaf"), stuck=3.0, call=1.0)
    rig.supervisor.start(
        "worker 1", "casetape.services.async_worker", {**options, "detectors": ["deaf"], "parameters": {}}
    )
    rig.until(lambda: bool(rig.told))
    assert "detect-async-default has finished nothing for" in rig.told[0]
    assert "while 8 records wait" in rig.told[0]
    assert rig.supervisor.services()[0].restarts == 1


def test_a_faust_that_has_nothing_to_do_is_left_alone(rig: Rig) -> None:
    rig.feed(records(0, 8))
    rig.start(stuck=2.0, call=1.0)
    rig.until(lambda: rig.saved() == 8)
    (before,) = rig.supervisor.services()
    rig.until(lambda: rig.supervisor.services()[0].silent < 1.0 and _lived(rig) > 6.0)
    assert rig.told == []
    assert rig.supervisor.services()[0].pid == before.pid


def _lived(rig: Rig) -> float:
    since = rig.supervisor.services()[0].since
    return 0.0 if since is None else time.time() - since
