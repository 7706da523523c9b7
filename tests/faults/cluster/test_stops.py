"""Services are killed, stopped and started under load: every finding once, the counts close (I4, I5, I7)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.faults.cluster.rig import Cluster, Service, lines, until
from tests.faults.cluster.truths import counts

pytestmark = pytest.mark.needs_services
COUNT = 3_000


@pytest.fixture
def cluster(shared_of: Callable[..., Cluster]) -> Cluster:
    """On servers that the module shares, with four partitions: nobody stops them here."""
    return shared_of(4)


@pytest.fixture
def cluster_of(shared_of: Callable[..., Cluster]) -> Callable[..., Cluster]:
    """The same, with any number of partitions."""
    return shared_of


def fed_in_parts(cluster: Cluster, parts: int, between: Callable[[int], None]) -> None:
    """Feeds everything in parts, with something after each."""
    size = COUNT // parts
    for part in range(parts):
        cluster.feed(part * size, (part + 1) * size)
        between(part)


@pytest.mark.parametrize(
    ("which", "number"),
    [
        ("worker", signal.SIGKILL),
        ("merger", signal.SIGTERM),
        pytest.param("worker", signal.SIGTERM, marks=pytest.mark.campaign),
        pytest.param("merger", signal.SIGKILL, marks=pytest.mark.campaign),
    ],
)
def test_a_service_is_ended_in_mid_batch(cluster: Cluster, which: str, number: signal.Signals) -> None:
    others = cluster.merger() if which == "worker" else cluster.worker()
    first = cluster.start("worker", "--detectors", "each") if which == "worker" else cluster.merger()

    def between(part: int) -> None:
        if part == 1:
            # whoever started it goes with it: the process, and the service in it
            for child in first.children():
                os.kill(child, number)
            first.stop(number)

    fed_in_parts(cluster, 3, between)
    if number == signal.SIGTERM:
        assert first.process.returncode == 0, first.said()
    again = cluster.start("worker", "--detectors", "each") if which == "worker" else cluster.merger()
    cluster.settled()
    cluster.holds(COUNT)
    assert again.process.poll() is None
    assert others.process.poll() is None


def test_one_three_one_workers_under_load(cluster: Cluster) -> None:
    """Streams 1 and 12: nothing is handled twice for good, and every one of them makes progress."""
    cluster.merger()
    workers = [cluster.worker()]

    def between(part: int) -> None:
        if part == 1:
            workers.extend(cluster.worker(ready=False) for _ in range(2))
            until(lambda: all(one.ready() for one in workers), "three workers are ready")
            until(lambda: all(_owned(one) for one in workers), "each of them has a partition")
        if part == 3:
            for one in workers[1:]:
                assert one.stop() == 0

    fed_in_parts(cluster, 5, between)
    cluster.settled()
    cluster.holds(COUNT)
    assert len(_owned(workers[0])) == 4


@pytest.mark.campaign
def test_a_frozen_worker_is_taken_over_from_and_does_no_harm_when_it_wakes(cluster: Cluster) -> None:
    """Streams 2: a fenced member starts again, and nothing is there twice."""
    cluster.merger()
    first = cluster.worker()
    cluster.feed(0, 1_000)
    (child,) = first.children()
    os.kill(child, signal.SIGSTOP)
    cluster.feed(1_000, 2_000)
    second = cluster.worker(ready=False)
    until(lambda: len(_owned(second)) == 4, "the second has all partitions")
    cluster.settled()
    os.kill(child, signal.SIGCONT)
    until(lambda: bool(_owned(first)) and bool(_owned(second)), "both share them")
    cluster.feed(2_000, COUNT)
    cluster.settled()
    cluster.holds(COUNT)


def test_a_merger_stopped_between_swap_and_publish_wakes_after_another_took_over(cluster: Cluster) -> None:
    """I5: the line has no gap and no fork, whoever publishes what."""
    cluster.worker()
    first = cluster.merger(CASETAPE_FAIL_POINT="merger.committed:2:stop")
    (child,) = first.children()
    cluster.feed(0, 1_500)
    until(lambda: _state(child) == "T", "the merger has stopped after a swap")
    cluster.merger()
    cluster.feed(1_500, COUNT)
    cluster.settled()
    os.kill(child, signal.SIGCONT)
    with cluster.open() as engine:
        until(lambda: counts(engine).new == COUNT, "all is looked at")
    cluster.settled()
    cluster.holds(COUNT)
    until(first.ready, "the first is ready again")


@pytest.mark.campaign
def test_more_workers_than_partitions(cluster_of: Callable[..., Cluster]) -> None:
    """Streams 4: the surplus one is idle, says so, and takes over on a loss."""
    cluster = cluster_of(2)
    cluster.merger()
    workers = [cluster.worker() for _ in range(3)]
    until(lambda: sum(bool(_owned(one)) for one in workers) == 2, "two have a partition each")
    (idle,) = [one for one in workers if not _owned(one)]
    until(lambda: "it waits, and takes over" in idle.said(), "the third says that it waits")
    assert idle.ready()
    busy = next(one for one in workers if one is not idle)
    for child in busy.children():
        os.kill(child, signal.SIGKILL)
    busy.stop(signal.SIGKILL)
    cluster.feed(0, COUNT)
    until(lambda: bool(_owned(idle)), "the third took over")
    cluster.settled()
    cluster.holds(COUNT)


def test_a_killed_feeder_goes_on(cluster: Cluster) -> None:
    cluster.merger()
    cluster.worker()
    path = cluster.folder / "all.log"
    path.write_bytes(lines(0, COUNT))
    cluster.env["CASETAPE_FAIL_POINT"] = "feed.appended:1"
    assert cluster.casetape("feed", path).code == -signal.SIGKILL
    del cluster.env["CASETAPE_FAIL_POINT"]
    report = cluster.casetape("feed", path, "--json").json
    assert report["read"] == report["appended"] + report["already_fed"] + report["quarantined"] == COUNT
    cluster.settled()
    cluster.holds(COUNT)


def _owned(service: Service) -> list[str]:
    _, said = service.asked("ready")
    return [at for one in said.get("services", ()) for at in one["partitions"]]


def _state(process: int) -> str:
    time.sleep(0.05)
    with open(f"/proc/{process}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]
