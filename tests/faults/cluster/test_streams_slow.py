"""Field reports of streams, on real servers: a broker that does not answer for a while costs time, and no memory."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from engines.topics import OBSERVATIONS
from tests.acceptance.command import command, environment
from tests.faults.cluster.rig import Service, lines, until
from tests.faults.cluster.sharing import Shared, memory
from tests.faults.cluster.truths import counts, findings, lines_of

pytestmark = pytest.mark.needs_services
GROWTH = 48
"""MiB that a process may hold more of than before: what one batch takes, and what Python does not give back."""
FEW = """
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        uid = observation.data["uid"]
        return Finding("suspicious", 0.5, fingerprint=f"each {uid}", title="each") if uid.endswith("00") else None
"""


def test_a_broker_that_is_silent_for_a_while_costs_no_memory(shared: Shared) -> None:
    """Streams 5."""
    silent_broker(shared, records=30_000, seconds=4)


@pytest.mark.campaign
def test_a_broker_that_is_silent_for_a_minute_costs_no_memory(shared: Shared) -> None:
    """Streams 5: longer than an append waits."""
    silent_broker(shared, records=200_000, seconds=65)


def silent_broker(shared: Shared, *, records: int, seconds: float) -> None:
    """Feeds, and stops the broker for so long in the middle of it."""
    shared.plugin(FEW)
    worker, merger = shared.work()
    path = shared.folder / "all.log"
    path.write_bytes(lines(0, records))
    feeder = feeding(shared, path)
    with shared.open() as engine:
        until(lambda: sum(engine.log.end_offsets(OBSERVATIONS).values()) > records // 20, "some are fed")
        processes = {feeder.pid: "feeder"}
        for name, one in (("worker", worker), ("merger", merger)):
            processes |= {one.process.pid: f"{name}'s host", **dict.fromkeys(one.children(), name)}
        before = {one: memory(one) for one in processes}
        shared.kafka.send(signal.SIGSTOP)
        try:
            most = watched(processes, seconds, (worker, merger))
        finally:
            shared.kafka.send(signal.SIGCONT)
        assert all(before.values()), "all were at work"
        grown = {name: (most[one] - before[one]) // 2**20 for one, name in processes.items()}
        assert max(grown.values()) < GROWTH, grown
        report = fed(shared, feeder, path, records)
        assert report["quarantined"] == 0
        shared.settled()
        assert sum(engine.log.end_offsets(OBSERVATIONS).values()) >= records
        counted = counts(engine)
        assert (counted.new, counted.quarantined) == (records, 0)
        assert counted.consumed == counted.new + counted.duplicate
        found = findings(engine)
        assert set(found) == {f"each C{number:06}" for number in range(0, records, 100)}
        assert set(found.values()) == {1}
        lines_of(engine)
    until(lambda: worker.ready() and merger.ready(), "both are ready again")


def watched(processes: Iterable[int], seconds: float, services: tuple[Service, ...]) -> dict[int, int]:
    """The most that each of them had in memory in so many seconds. A broker that is long silent makes nobody look
    well, and nobody dead."""
    most = dict.fromkeys(processes, 0)
    until_then = time.monotonic() + seconds
    while time.monotonic() < until_then:
        most = {one: max(held, memory(one)) for one, held in most.items()}
        time.sleep(0.1)
    for one in services:
        assert one.asked("health")[0] == 200
        assert seconds < 30 or one.asked("ready")[0] == 503
    return most


def feeding(shared: Shared, path: Path) -> subprocess.Popen[bytes]:
    """A feeder at work on a file."""
    return subprocess.Popen(
        command("feed", path, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(shared.folder / "home", shared.variables()),
    )


def fed(shared: Shared, feeder: subprocess.Popen[bytes], path: Path, records: int) -> dict[str, int]:
    """What the feeder reports. One whose append took too long says so, and the same command goes on."""
    out, err = feeder.communicate(timeout=120)
    if feeder.returncode != 0:
        assert (feeder.returncode, "did not acknowledge the append" in err.decode()) == (1, True), err.decode()
        answer = shared.casetape("feed", path, "--json")
        assert answer.code == 0, answer.err
        out = answer.out.encode()
    report: dict[str, int] = json.loads(out)
    assert report["read"] == report["appended"] + report["already_fed"] + report["quarantined"] == records
    return report
