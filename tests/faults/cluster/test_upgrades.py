"""Detectors that are added, upgraded and re-parameterised, and services that are restarted one after the other: what
was said stays, what is current is what the design says, and nothing is lost or there twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from engines.engine import Engine
from merge.reading import head_number, load_summary
from schemas.analysis import Analysis
from tests.faults.cluster.rig import Cluster, until
from tests.faults.cluster.sharing import Shared, analyses, dns, feed
from tests.faults.cluster.truths import counts, findings, holds, manifests, settled

pytestmark = pytest.mark.needs_services
HOST = "default/host:10.0.1.7"

LAST = """
from pydantic import BaseModel
from casetape import Detector, Finding
class Parameters(BaseModel):
    score: float = 0.5
class Each(Detector):
    name = "each"
    version = {version!r}
    kinds = ("zeek.dns",)
    Parameters = Parameters
    def detect(self, observation):
        host = observation.data["id.orig_h"]
        return Finding(
            "suspicious", self.parameters.score, fingerprint=f"last of {{host}}", title=observation.data["uid"]
        )
"""
OTHER = """
from casetape import Detector, Finding
class Other(Detector):
    name = "other"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        return Finding("suspicious", 0.5, fingerprint=f"other {observation.data['uid']}", title="other")
"""
WINDOWED = """
from casetape import Finding, Measure, WindowedDetector
from schemas.scales import HOUR
from workers.detection.windowed import Window
class Each(WindowedDetector):
    name = "each"
    version = {version!r}
    kinds = ("zeek.dns",)
    window = Window(HOUR, HOUR)
    def measure(self, observation):
        return Measure("k", ())
    def conclude(self, key, rows, span):
        rows = {{"rows": len(rows.at)}}
        return Finding("suspicious", 0.5, fingerprint=f"window {{span.end}}", title="window", numbers=rows)
"""


def test_an_upgraded_detector_speaks_for_itself_and_what_the_old_one_said_stays(shared: Shared) -> None:
    """I3: of one fingerprint the newest evidence is current, whichever version looked at it."""
    shared.plugin(LAST.format(version="1"))
    worker, _ = shared.work()
    feed(shared, dns("C1", at=1_700_000_000))
    shared.finished(1, worker)
    shared.plugin(LAST.format(version="2"))
    worker = shared.worker()
    assert "new or changed here: each" in worker.said()
    feed(shared, dns("C2", at=1_700_000_060))
    # of before: the new version looks at it too, and what it says of it does not become current
    feed(shared, dns("C0", at=1_699_999_000))
    shared.finished(3, worker)
    with shared.open() as engine:
        assert said(engine) == {("1", "C1"), ("2", "C2"), ("2", "C0")}
        assert current(engine) == {("2", "C2")}
        assert counts(engine).new == counts(engine).consumed == 3


@pytest.mark.campaign
def test_a_detector_with_other_parameters_is_another_one(shared: Shared) -> None:
    shared.plugin(LAST.format(version="1"))
    worker, _ = shared.work()
    feed(shared, dns("C1", at=1_700_000_000))
    shared.finished(1, worker)
    worker = shared.worker(CASETAPE_PARAMETERS=json.dumps({"each": {"score": 0.9}}))
    assert "new or changed here: each" in worker.said()
    feed(shared, dns("C2", at=1_700_000_060))
    shared.finished(2, worker)
    with shared.open() as engine:
        found = {one.title: one for one in analyses(engine, HOST)}
        assert (found["C1"].score, found["C2"].score) == (500_000, 900_000)
        assert found["C1"].parameters != found["C2"].parameters
        assert current(engine) == {("1", "C2")}
        row = engine.store.row(HOST)
        assert row is not None
        assert (row.analyses, row.score) == (1, 900_000)
    # nothing is new to the same again
    again = shared.worker(CASETAPE_PARAMETERS=json.dumps({"each": {"score": 0.9}}))
    assert "new or changed" not in again.said()


@pytest.mark.campaign
def test_an_upgraded_window_starts_afresh_and_takes_nothing_of_the_old_one(shared_of: Callable[..., Shared]) -> None:
    """A window is one of a detector, version and parameters: the new one counts from where it began to look."""
    cluster = shared_of(CASETAPE_LATENESS="0")
    cluster.plugin(WINDOWED.format(version="1"))
    worker, _ = cluster.work()
    start = 1_700_002_800 - 1_700_002_800 % 3_600
    feed(cluster, b"".join(dns(f"C{number}", at=start + number) for number in range(5)))
    cluster.settled()
    assert worker.stop() == 0
    cluster.plugin(WINDOWED.format(version="2"))
    worker = cluster.worker()
    feed(cluster, b"".join(dns(f"D{number}", at=start + 100 + number) for number in range(3)))
    feed(cluster, dns("E", at=start + 4 * 3_600))
    cluster.finished(1, worker)
    with cluster.open() as engine:
        assert {(one.version, tuple(one.numbers.items())) for one in analyses(engine, HOST)} == {("2", (("rows", 3),))}
        assert counts(engine).new == 9


@pytest.mark.campaign
def test_a_detector_that_is_added_in_a_set_of_its_own_sees_all_that_is_kept(shared: Shared) -> None:
    """Sets scale and read apart: the new one begins at the oldest record, and the old one goes on."""
    worker, _ = shared.work()
    shared.feed(0, 100)
    shared.plugin(OTHER, "other")
    added = shared.start("worker", "--detectors", "other")
    shared.feed(100, 150)
    shared.finished(300, worker, added)
    with shared.open() as engine:
        expected = {f"{who} C{number:06}" for who in ("each", "other") for number in range(150)}
        assert set(findings(engine)) == expected
        assert set(findings(engine).values()) == {1}
        assert counts(engine).new == counts(engine).consumed == 150
        assert len(engine.store.manifests("detect/detect-other/")) == shared.partitions
        assert len(manifests(engine)) == shared.partitions


def test_a_detector_that_is_added_to_a_set_sees_what_comes_and_says_so(shared: Shared) -> None:
    """Of a set that has all there are, a new plug-in changes nothing of what was looked at before."""
    both = ["worker", "--detectors", "each,other"]
    all_there_are = shared.start("worker")
    shared.merger()
    shared.feed(0, 100)
    with shared.open() as engine:
        until(lambda: len(findings(engine)) == 100 and not engine.store.unpublished(1), "it has looked")
    assert all_there_are.stop() == 0
    shared.plugin(OTHER, "other")
    again = shared.start("worker")
    assert "new or changed here: other" in again.said()
    shared.feed(100, 150)
    expected = {f"each C{number:06}" for number in range(150)} | {f"other C{number:06}" for number in range(100, 150)}
    with shared.open() as engine:
        until(lambda: set(findings(engine)) >= expected, "both have looked at what came")
        assert {one for one in findings(engine) if one.startswith(("each", "other"))} == expected
    # and as a set of its own name both look at everything; what was said already is not said twice
    shared.start(*both)
    everything = expected | {f"other C{number:06}" for number in range(150)}
    with shared.open() as engine:
        until(lambda: set(findings(engine)) >= everything, "all have looked at everything")
        assert set(findings(engine).values()) == {1}


def test_services_are_restarted_one_after_the_other_under_load(shared_of: Callable[..., Shared]) -> None:
    """A rolling restart: at every moment somebody works."""
    cluster = shared_of(4)
    workers = [cluster.worker(ready=False) for _ in range(2)]
    mergers = [cluster.merger(ready=False) for _ in range(2)]
    until(lambda: all(one.ready() for one in (*workers, *mergers)), "all are ready")
    with load(cluster) as fed:
        for group, start in ((workers, cluster.worker), (mergers, cluster.merger)):
            for place in range(2):
                assert group[place].stop() == 0, group[place].said()
                group[place] = start()
    assert fed
    with cluster.open() as engine:
        until(lambda: settled(engine), "everything is handled")
        holds(engine, sum(fed))
    assert all(one.asked("ready")[1]["services"][0]["restarts"] == 0 for one in (*workers, *mergers))


@contextmanager
def load(cluster: Cluster, size: int = 200) -> Iterator[list[int]]:
    """Feeds as long as the block takes: the sizes of what was fed."""
    enough, fed = threading.Event(), list[int]()

    def feed_on() -> None:
        while not enough.is_set():
            cluster.feed(sum(fed), sum(fed) + size)
            fed.append(size)

    thread = threading.Thread(target=feed_on)
    thread.start()
    try:
        yield fed
    finally:
        enough.set()
        thread.join()


def said(engine: Engine) -> set[tuple[str, str]]:
    """Version and title of everything that was ever said of the host."""
    return {(one.version, one.title) for one in analyses(engine, HOST)}


def current(engine: Engine) -> set[tuple[str, str]]:
    """The same of what is current."""
    summary = load_summary(engine.store, HOST, head_number(engine.store, HOST), log=engine.log)
    found: list[Analysis] = list(summary.current.values())
    return {(one.version, one.title) for one in found}
