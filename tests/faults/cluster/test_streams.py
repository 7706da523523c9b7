"""Field reports of streams, on real servers: starts that are killed, partitions that stand still, batches that take
longer than a session, records that nobody can read."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from engines.topics import OBSERVATIONS, VERSIONS
from tests.factories import CASE, observation
from tests.faults.cluster.pausing import STALLED
from tests.faults.cluster.rig import until
from tests.faults.cluster.sharing import Shared, quarantined, serving, thaw
from tests.faults.cluster.truths import counts, findings, manifests

pytestmark = pytest.mark.needs_services

WAITING = """
import time
from pathlib import Path
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        while observation.data["uid"] == {uid!r} and not Path({go!r}).exists():
            time.sleep(0.02)
        return Finding("suspicious", 0.5, fingerprint=f"each {{observation.data['uid']}}", title="each")
"""
SLOW = """
import time
from pathlib import Path
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        with Path({looked!r}).open("a") as looked:
            looked.write(observation.data["uid"] + "\\n")
        time.sleep({seconds})
        return Finding("suspicious", 0.5, fingerprint=f"each {{observation.data['uid']}}", title="each")
"""
RAISING = """
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("*",)
    def detect(self, observation):
        if observation.data["n"] == 7:
            raise KeyError("a plug-in's own mistake")
        return Finding("suspicious", 0.5, fingerprint=f"each {observation.data['n']}", title="each")
"""


@pytest.mark.parametrize("point", ["worker.assigned", pytest.param("merger.polled", marks=pytest.mark.campaign)])
def test_a_service_that_is_killed_while_it_starts_starts_again_clean(shared: Shared, point: str) -> None:
    """Streams 6: its successor takes over what it had claimed."""
    shared.feed(0, 200)
    which = point.partition(".")[0]
    other = shared.merger(ready=False) if which == "worker" else shared.worker(ready=False)
    dying = {"CASETAPE_FAIL_POINT": point, "ready": False}
    one = shared.worker(**dying) if which == "worker" else shared.merger(**dying)
    until(lambda: "was started again" in one.said(), "it has died")
    until(lambda: one.ready() and other.ready(), "both are ready")
    (service,) = one.asked("ready")[1]["services"]
    assert (service["restarts"], service["last"]) == (1, "exit code -9")
    shared.finished(200, one if which == "worker" else other)
    shared.holds(200)


def test_a_worker_killed_again_and_again_while_it_starts_is_no_hindrance(shared: Shared) -> None:
    """Streams 6: processes that died at any moment of their start leave nothing behind that one would wait for."""
    shared.feed(0, 200)
    merger = shared.merger(ready=False)
    for seconds in (0.6, 0.9, 1.2, 1.5):
        one = shared.worker(ready=False)
        with suppress(subprocess.TimeoutExpired):
            one.process.wait(seconds)
        assert one.stop(signal.SIGKILL) == -signal.SIGKILL
    last = shared.worker()
    until(merger.ready, "the merger is ready")
    assert last.asked("ready")[1]["services"][0]["restarts"] == 0
    shared.finished(200, last)
    shared.holds(200)


def test_a_silent_process_is_not_ready_and_says_which(shared_of: Callable[..., Shared]) -> None:
    """Streams 7: the host goes round, so that it is alive; what it hosts does not."""
    cluster = shared_of(CASETAPE_STUCK="3")
    worker, merger = cluster.work()
    (child,) = worker.children()
    os.kill(child, signal.SIGSTOP)
    why = not_ready(worker)
    assert any("worker 1 has given no sign of life" in one for one in why), why
    assert worker.asked("health")[0] == 200
    assert merger.ready(), "the others are as they were"
    thaw(worker)
    until(worker.ready, "it is ready again")
    cluster.feed(0, 200)
    cluster.finished(200, worker)
    cluster.holds(200)


def test_a_call_that_hangs_is_not_ready_and_says_where(shared_of: Callable[..., Shared]) -> None:
    """Streams 7: the partition is named on which records wait."""
    cluster = shared_of(CASETAPE_STUCK="3", CASETAPE_CALL="600")
    go = cluster.folder / "go"
    cluster.plugin(WAITING.format(uid="C000007", go=str(go)))
    worker, _ = cluster.work()
    cluster.feed(0, 200)
    why = not_ready(worker, lambda why: any("observations[" in one for one in why))
    assert any(one.startswith("detect-each makes no progress on observations[") for one in why), why
    assert worker.asked("health")[0] == 200
    go.touch()
    until(worker.ready, "it is ready again")
    assert worker.asked("ready")[1]["services"][0]["restarts"] == 0
    cluster.finished(200, worker)
    cluster.holds(200)


def test_one_partition_that_stands_still_is_told_while_the_others_move(shared: Shared) -> None:
    """Streams 7: its process gives every sign of life."""
    with serving(shared, "tests.faults.cluster.pausing") as served:
        until(lambda: served.asked("ready")[0] == 200, "it is ready")
        shared.feed(0, 200)
        assert not_ready(served)

        def alone() -> bool:
            why = served.asked("ready")[1].get("why", ())
            return bool(why) and all(f"observations[{STALLED}]" in one for one in why)

        # the other one's progress is seen when it is saved, which may take a moment longer
        until(alone, "it alone is told")
        assert served.asked("health")[0] == 200
        with shared.open() as engine:
            until(lambda: _seen(engine, 1) == engine.log.end_offsets(OBSERVATIONS)[1] > 0, "the other is handled")
            assert _seen(engine, STALLED) == 0
    worker, _ = shared.work()
    shared.finished(200, worker)
    shared.holds(200)


def test_a_batch_that_takes_longer_than_a_session_is_handled_once(shared: Shared) -> None:
    """Streams 8: whoever works on it is no silent member, and one that joins meanwhile waits."""
    looked = shared.folder / "looked"
    shared.plugin(SLOW.format(looked=str(looked), seconds=0.04))
    shared.feed(0, 200)
    started = time.monotonic()
    first, _ = shared.work()
    until(looked.exists, "the first has begun")
    second = shared.worker(ready=False)
    with shared.open() as engine:
        until(lambda: len(findings(engine)) == 200, "all is looked at")
    assert time.monotonic() - started > 6, "two sessions at least"
    until(lambda: first.ready() and second.ready(), "both are ready")
    assert [one["restarts"] for each in (first, second) for one in each.asked("ready")[1]["services"]] == [0, 0]
    shared.finished(200, first, second)
    shared.holds(200)
    assert set(Counter(looked.read_text().split()).values()) == {1}, "nobody was put out in mid-batch"


@pytest.mark.campaign
def test_a_batch_that_takes_longer_than_the_poll_interval_ends_without_a_livelock(shared: Shared) -> None:
    """Streams 8: a member that joins in mid-batch must not make everybody begin again for ever."""
    looked = shared.folder / "looked"
    shared.plugin(SLOW.format(looked=str(looked), seconds=0.04))
    shared.feed(0, 200)
    merger = shared.merger(ready=False)
    with serving(shared, "casetape.services.worker", stuck=60, poll_seconds=4.0) as first:
        until(looked.exists, "the first has begun")
        with serving(shared, "casetape.services.worker", stuck=60, poll_seconds=4.0) as second:
            with shared.open() as engine:
                until(lambda: len(findings(engine)) == 200, "all is looked at")
            assert (first.error, second.error) == (None, None)
    shared.finished(200)
    shared.holds(200)
    assert max(Counter(looked.read_text().split()).values()) <= 4
    assert merger.process.poll() is None


@pytest.mark.parametrize("bad", [pytest.param(b'{"schema":1,"tenant"', marks=pytest.mark.campaign), b"\xc1\xff\x00"])
def test_the_fifth_of_ten_records_cannot_be_read(shared: Shared, bad: bytes) -> None:
    """Streams 9: it lies in quarantine with its place, and no later commit has just skipped it."""
    shared.plugin(RAISING)
    values = [bad if number == 4 else observation(number).encode() for number in range(10)]
    at, *_ = shared.send(OBSERVATIONS, [(CASE, value) for value in values])
    branch = shared.send(VERSIONS, [(CASE, bad)])[0]
    worker, merger = shared.work()
    shared.finished(lambda engine: len(quarantined(engine)) == 3 and len(findings(engine)) == 8, worker)
    with shared.open() as engine:
        assert set(findings(engine)) == {f"each {number}" for number in range(10) if number not in (4, 7)}
        assert set(findings(engine).values()) == {1}
        until(lambda: engine.log.committed("detect-each", OBSERVATIONS).get(at.partition) == 10, "all is committed")
        counted = counts(engine)
        assert (counted.consumed, counted.new, counted.quarantined, counted.faults) == (10, 9, 1, 1)
        by = {(one.author, one.what): one for one in quarantined(engine)}
        assert set(by) == {("detect-each", "record"), ("merger", "record"), ("each", "result")}
        for author, topic, place in (("detect-each", at, 4), ("merger", branch, 0)):
            one = by[author, "record"]
            source = one.source
            assert (source.topic, source.partition, source.offset) == (topic.topic, topic.partition, place)
            assert one.data == bad
        result = by["each", "result"]
        assert result.source.options["observation"] == observation(7).id
        assert "KeyError" in result.reason
        assert "own mistake" not in result.reason
    assert merger.ready()


def not_ready(one: Any, enough: Callable[[list[str]], bool] = bool, seconds: float = 30.0) -> list[str]:
    """Why it says that it is not ready, once it does."""
    found: list[str] = []

    def look() -> bool:
        code, said = one.asked("ready")
        found[:] = said.get("why", [])
        return code == 503 and enough(found)

    until(look, "it says that it is not ready", seconds)
    return found


def _seen(engine: Any, partition: int) -> int:
    return next(one.offset for name, one in manifests(engine).items() if name.endswith(f"/{partition}"))
