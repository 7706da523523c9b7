"""Servers stop, die, come back, and come back with less than they had acknowledged (I1)."""

from __future__ import annotations

import shutil
import signal
import time

import pytest
from kafka import KafkaAdminClient

from schemas.errors import StoreBehind
from tests.faults.cluster.rig import Cluster, until
from tests.faults.cluster.truths import findings, lines_of

pytestmark = pytest.mark.needs_services
COUNT = 2_000


@pytest.mark.campaign
def test_the_broker_stops_for_a_while(cluster: Cluster) -> None:
    cluster.merger()
    cluster.worker()
    cluster.feed(0, 1_000)
    cluster.kafka.send(signal.SIGSTOP)
    time.sleep(5)  # no guess: so long without a broker is what is tested
    cluster.kafka.send(signal.SIGCONT)
    cluster.feed(1_000, COUNT)
    cluster.settled()
    cluster.holds(COUNT)


def test_the_broker_is_killed_and_restarted(cluster: Cluster) -> None:
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 1_000)
    cluster.kafka.kill()
    until(lambda: not (merger.ready() and worker.ready()), "they say that they are not ready")
    cluster.kafka.start()
    cluster.feed(1_000, COUNT)
    cluster.settled()
    cluster.holds(COUNT)
    until(lambda: merger.ready() and worker.ready(), "they are ready again")


def test_redis_is_killed_and_restarted_with_its_file(cluster: Cluster) -> None:
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 1_000)
    cluster.redis.kill()
    until(lambda: not (merger.ready() and worker.ready()), "they say that they are not ready")
    cluster.redis.start()
    cluster.feed(1_000, COUNT)
    cluster.settled()
    cluster.holds(COUNT)
    until(lambda: merger.ready() and worker.ready(), "they are ready again")


def test_redis_comes_back_from_an_old_copy(cluster: Cluster) -> None:
    """Whoever works notices, everybody else is refused, and a rebuild brings back the same line."""
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 500)
    cluster.settled()
    old = cluster.folder / "old"
    shutil.copytree(cluster.redis.folder, old)
    cluster.feed(500, 1_000)
    cluster.settled()
    with cluster.open() as engine:
        before = lines_of(engine)
    cluster.redis.kill()
    shutil.rmtree(cluster.redis.folder)
    shutil.copytree(old, cluster.redis.folder)
    cluster.redis.start()
    cluster.feed_refused()
    until(lambda: merger.process.poll() is not None, "the merger has ended")
    assert merger.process.returncode == 1
    assert "casetape rebuild" in merger.said()
    until(lambda: worker.process.poll() is not None, "the worker has ended, though nothing came")
    assert worker.process.returncode == 1
    rebuilt_and_goes_on(cluster, before)


def test_redis_is_wiped(cluster: Cluster) -> None:
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 1_000)
    cluster.settled()
    with cluster.open() as engine:
        before = lines_of(engine)
    wipe(cluster)
    cluster.feed_refused()
    until(lambda: merger.process.poll() is not None, "the merger has ended")
    assert "casetape rebuild" in merger.said()
    until(lambda: worker.process.poll() is not None, "the worker has ended, though nothing came")
    assert worker.process.returncode == 1
    rebuilt_and_goes_on(cluster, before)


def wipe(cluster: Cluster) -> None:
    """Empties the store under everybody's hands."""
    import redis

    client = redis.Redis.from_url(cluster.redis.url)
    client.flushall()
    client.close()


def rebuilt_and_goes_on(cluster: Cluster, before: dict[str, list[str]]) -> None:
    """Rebuilds, finds the same line, and works on."""
    with cluster.open() as engine, pytest.raises(StoreBehind):
        engine.store.heads(list(before))
    report = cluster.casetape("rebuild", "--verify", "--json").json
    assert report["versions"] == sum(map(len, before.values()))
    assert report["faults"] == []
    with cluster.open() as engine:
        assert lines_of(engine) == before
        assert set(findings(engine).values()) == {1}
    cluster.merger()
    cluster.worker()
    cluster.feed(1_000, COUNT)
    cluster.settled()
    with cluster.open() as engine:
        found = findings(engine)
        assert set(found) == {f"each C{number:06}" for number in range(COUNT)}
        assert set(found.values()) == {1}
        after = lines_of(engine)
    assert all(after[case][: len(line)] == line for case, line in before.items()), "what reached `states` stands"


def test_a_tape_that_lost_its_states_costs_the_store_nothing(cluster: Cluster) -> None:
    """What the tape has lost the store alone has: nobody makes the topic anew by the way, nor the store from it."""
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 300)
    cluster.settled()
    busy = cluster.casetape("rebuild")
    assert (busy.code, "are at work in group" in busy.err) == (1, True)
    assert [merger.stop(), worker.stop()] == [0, 0]
    admin = KafkaAdminClient(bootstrap_servers=cluster.kafka.address)
    admin.delete_topics(["casetape.states"])
    admin.close()
    until(lambda: "is missing" in cluster.casetape("topics", "check").out, "the topic is gone")
    for verb in (("feed", "-", "--kind", "text", "--subject", "host:a"), ("rebuild",), ("run",)):
        answer = cluster.casetape(*verb, stdin=b"x")
        assert (answer.code, "states" in answer.err) == (1, True)
    assert cluster.casetape("topics", "create").code == 0
    doctor = cluster.casetape("doctor")
    assert (doctor.code, "the store alone has those versions" in doctor.out) == (1, True)
    answer = cluster.casetape("rebuild")
    assert (answer.code, "Nothing was changed" in answer.err) == (1, True)
    with cluster.open() as engine:
        assert engine.store.refused() is None
        assert len(findings(engine)) == 300


@pytest.mark.campaign
def test_a_topic_that_was_made_anew_is_read_from_its_beginning(cluster: Cluster) -> None:
    """What is known of the old one says nothing of what the new one holds."""
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 600)
    cluster.settled()
    assert worker.stop() == 0
    admin = KafkaAdminClient(bootstrap_servers=cluster.kafka.address)
    admin.delete_topics(["casetape.observations"])
    admin.close()
    until(lambda: "is missing" in cluster.casetape("topics", "check").out, "the topic is gone")
    assert cluster.casetape("topics", "create").code == 0
    cluster.feed(600, 700)
    cluster.worker()
    with cluster.open() as engine:
        until(lambda: len(findings(engine)) == 700, "all that is new is looked at")
        assert set(findings(engine).values()) == {1}
    assert merger.process.poll() is None
