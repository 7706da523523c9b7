"""Servers that fall silent, end, or were never there: nothing is acknowledged that is not durable (I4)."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.kafka import delete_all
from tests.faults.asynchronous.rig import Rig, records
from tests.servers import kafka as brokers
from tests.servers import redis as stores
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports
from tests.servers.redis import RedisServer
from tests.servers.shared import servers
from workers.runtime.supervisor import Supervisor

pytestmark = pytest.mark.needs_services

COUNT = 200


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[KafkaServer]:
    """One that may be stopped."""
    if (lacking := brokers.missing()) is not None:
        pytest.skip(lacking)
    server = KafkaServer(tmp_path / "kafka")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def own(broker: KafkaServer, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(broker.address, servers().redis, tmp_path)
    yield made
    made.close()


def check(rig: Rig) -> None:
    assert rig.fingerprints() == {f"number {n}": 1 for n in range(COUNT)}
    counts = rig.counts()
    assert (counts.consumed, counts.new, counts.duplicate, counts.quarantined) == (COUNT, COUNT, 0, 0)
    assert len(rig.calls()) == COUNT


@pytest.mark.campaign
def test_a_broker_that_is_silent_for_seconds_costs_nothing(own: Rig, broker: KafkaServer) -> None:
    own.feed(records(0, COUNT))
    own.start()
    own.until(lambda: own.saved() >= 60)
    broker.send(signal.SIGSTOP)
    silent = time.monotonic()
    try:
        own.until(lambda: time.monotonic() - silent > 5.0)
    finally:
        broker.send(signal.SIGCONT)
    own.until(lambda: own.saved() >= COUNT)
    own.supervisor.stop()
    check(own)
    assert own.told == []
    assert set(own.calls().values()) == {1}


@pytest.mark.campaign
def test_a_broker_that_ends_and_comes_back(own: Rig, broker: KafkaServer) -> None:
    own.supervisor.stop()
    own.supervisor = Supervisor(own.told.append, lasting=True)
    own.feed(records(0, COUNT))
    own.start()
    own.until(lambda: own.saved() >= 60)
    broker.kill()
    broker.start()
    own.until(lambda: own.saved() >= COUNT)
    own.supervisor.stop()
    check(own)


def test_a_store_that_ends_and_comes_back(tmp_path: Path) -> None:
    if (lacking := stores.missing()) is not None:
        pytest.skip(lacking)
    store = RedisServer(tmp_path / "redis")
    store.start()
    own = Rig(servers().kafka, store.url, tmp_path)
    try:
        own.cluster = replace(own.cluster, redis=replace(own.cluster.redis, answer_seconds=2.0))
        own.supervisor.stop()
        own.supervisor = Supervisor(own.told.append, lasting=True)
        own.feed(records(0, COUNT))
        own.start()
        own.until(lambda: own.saved() >= 60)
        store.kill()
        own.until(lambda: len(own.told) >= 2)
        assert all("Redis" in told for told in own.told)
        store.start()
        own.until(lambda: own.saved() >= COUNT)
        own.supervisor.stop()
        check(own)
    finally:
        own.supervisor.stop()
        store.stop()
        own.engine.close()
        delete_all(own.cluster.kafka)


def test_no_broker_at_the_start_is_said_and_can_be_tried_again(rig: Rig) -> None:
    (port,) = free_ports(1)
    options = rig.options()
    options["engine"]["kafka"] |= {"servers": f"127.0.0.1:{port}", "reach_seconds": 1.0}
    rig.supervisor.stop()
    rig.supervisor = Supervisor(rig.told.append, lasting=True)
    rig.supervisor.start("worker 1", "casetape.services.async_worker", options)
    rig.until(lambda: len(rig.told) >= 2)
    assert all(f"Kafka at 127.0.0.1:{port} does not answer" in told for told in rig.told)
