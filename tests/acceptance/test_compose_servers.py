"""The servers of deploy/compose.yaml, started as it says: what they keep, whom they let in, what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from redis.exceptions import NoPermissionError

from tests.acceptance.composed import PASSWORD, Broker, Store
from tests.servers import kafka as kafka_here
from tests.servers import redis as redis_here
from tests.unit.deploy.compose_rules import read

pytestmark = pytest.mark.needs_services


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    if redis_here.missing():
        pytest.skip(str(redis_here.missing()))
    server = Store(read(), tmp_path)
    server.start()
    yield server
    server.stop()


def test_redis_is_as_the_file_says(store: Store) -> None:
    ours = store.client(username="casetape", password=PASSWORD)
    found = ours.config_get("*")
    assert (found["appendonly"], found["appendfsync"], found["save"]) == ("yes", "always", "")
    assert (found["maxmemory-policy"], found["maxmemory"]) == ("noeviction", str(1536 * 1024**2))
    assert ours.info("persistence")["aof_enabled"] == 1


def test_redis_lets_casetape_do_its_work_and_nothing_else(store: Store) -> None:
    ours = store.client(username="casetape", password=PASSWORD)
    assert (
        ours.eval("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])", 1, "casetape:a", "1") == "1"
    )
    assert list(ours.scan_iter("casetape:*")) == ["casetape:a"]
    for forbidden in (
        lambda: ours.set("another:a", "1"),
        ours.flushall,
        lambda: ours.config_set("appendfsync", "no"),
        ours.shutdown,
        lambda: ours.acl_setuser("mallory", enabled=True),
    ):
        with pytest.raises(NoPermissionError):
            forbidden()


def test_redis_lets_in_nobody_else(store: Store) -> None:
    with pytest.raises(redis.AuthenticationError):
        store.client().ping()
    with pytest.raises(redis.AuthenticationError):
        store.client(username="casetape", password="another").ping()  # noqa: S106 - a wrong one


def test_redis_keeps_its_password_to_itself(store: Store) -> None:
    line = Path(f"/proc/{store.pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    assert "redis-server" in line
    assert PASSWORD not in line
    assert PASSWORD not in store.users.read_text(encoding="utf-8")
    assert store.users.stat().st_mode & 0o077 == 0


def test_redis_comes_back_with_what_it_acknowledged(store: Store) -> None:
    login = {"username": "casetape", "password": PASSWORD}
    store.client(**login).set("casetape:a", "acknowledged")
    store.kill()
    assert not store.healthy()
    store.start()
    assert store.client(**login).get("casetape:a") == "acknowledged"


def test_redis_does_not_start_without_a_password(tmp_path: Path) -> None:
    if redis_here.missing():
        pytest.skip(str(redis_here.missing()))
    server = Store(read(), tmp_path)
    (tmp_path / "password").write_text("\n")
    server.launch()
    with pytest.raises(AssertionError, match="the file of the password is empty"):
        server.wait()


def test_kafka_is_as_the_file_says(tmp_path: Path) -> None:
    if kafka_here.missing():
        pytest.skip(str(kafka_here.missing()))
    broker = Broker(read(), tmp_path)
    broker.start()
    try:
        admin = KafkaAdminClient(bootstrap_servers=broker.address)
        admin.create_topics([NewTopic("casetape.states", num_partitions=2, replication_factor=1)])
        resource = ConfigResource(ConfigResourceType.TOPIC, "casetape.states")
        found = admin.describe_configs([resource], config_filter="all")["topic"]["casetape.states"]
        assert found["flush.messages"]["value"] == "1"
        assert admin.list_topics() == ["casetape.states"]
        admin.close()
    finally:
        broker.stop()
    assert (broker.data / "meta.properties").is_file()
