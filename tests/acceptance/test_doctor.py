"""`casetape doctor` and `casetape topics check` say in words what would lose data."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis as client
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType

from tests.acceptance.command import casetape
from tests.servers import redis
from tests.servers.redis import RedisServer
from tests.servers.shared import servers

pytestmark = pytest.mark.needs_services


@pytest.fixture
def env() -> dict[str, str]:
    """Settings under a prefix of the test's own, with its topics made."""
    found = servers()
    return {
        "CASETAPE_ENGINE": "cluster",
        "CASETAPE_KAFKA__SERVERS": found.kafka,
        "CASETAPE_REDIS__URL": found.redis,
        "CASETAPE_PREFIX": f"doctor-{uuid.uuid4().hex[:12]}",
        "CASETAPE_PARTITIONS": "2",
    }


@pytest.fixture
def home(tmp_path: Path, env: dict[str, str]) -> Path:
    """A home with its topics."""
    assert casetape(tmp_path, "topics", "create", env=env).code == 0
    return tmp_path


def told(home: Path, env: dict[str, str], *verb: str) -> tuple[int, dict[str, set[str]]]:
    """The exit code, and by level what was found about what."""
    answer = casetape(home, *verb, "--json", env=env)
    found: list[dict[str, Any]] = json.loads(answer.out)
    levels: dict[str, set[str]] = {"ok": set(), "warning": set(), "fault": set()}
    for one in found:
        levels[one["level"]].add(f"{one['about']}: {one['words']}")
    return answer.code, levels


def test_all_is_well(home: Path, env: dict[str, str]) -> None:
    code, found = told(home, env, "doctor")
    assert (code, found["fault"]) == (0, set())
    about = {one.partition(":")[0] for one in found["ok"]}
    assert about >= {"Kafka", "Redis", "topic observations", "topic states", "high-water mark", "group merger"}
    assert told(home, env, "topics", "check")[0] == 0


@pytest.mark.parametrize(
    ("key", "value"), [("retention.ms", "3600000"), ("cleanup.policy", "compact"), ("max.message.bytes", "1000000")]
)
def test_a_topic_that_would_lose_records(home: Path, env: dict[str, str], key: str, value: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=env["CASETAPE_KAFKA__SERVERS"])
    name = f"{env['CASETAPE_PREFIX']}.states"
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs={key: value})])
    admin.close()
    for verb in (("topics", "check"), ("doctor",)):
        code, found = told(home, env, *verb)
        assert code == 1
        assert any("topic states" in one and f"`{key}` is {value}" in one for one in found["fault"])


def test_a_producer_with_another_partitioner_is_told_of(home: Path, env: dict[str, str]) -> None:
    producer = KafkaProducer(bootstrap_servers=env["CASETAPE_KAFKA__SERVERS"])
    for number in range(40):
        key = f"default/host:10.0.0.{number}".encode()
        producer.send(f"{env['CASETAPE_PREFIX']}.observations", b"{}", key=key, partition=number % 2)
    producer.close()
    code, found = told(home, env, "doctor")
    assert code == 0
    (said,) = found["warning"]
    assert "another partitioner" in said


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that keeps nothing on the disk, and throws keys away when it is full."""
    if (lacking := redis.missing()) is not None:
        pytest.skip(lacking)
    server = RedisServer(tmp_path / "redis", ("--appendonly", "no", "--maxmemory-policy", "allkeys-lru"))
    server.start()
    yield server
    server.stop()


def test_a_redis_that_would_lose_keys(home: Path, env: dict[str, str], own: RedisServer) -> None:
    code, found = told(home, {**env, "CASETAPE_REDIS__URL": own.url}, "doctor")
    assert code == 1
    assert any("allkeys-lru" in one and "noeviction" in one for one in found["fault"])
    assert any("append-only" in one for one in found["warning"])
    one = client.Redis.from_url(own.url)
    one.config_set("maxmemory-policy", "noeviction")
    one.close()
    assert told(home, {**env, "CASETAPE_REDIS__URL": own.url}, "doctor")[0] == 0


def test_an_embedded_home_is_looked_over_too(tmp_path: Path) -> None:
    assert casetape(tmp_path, "feed", "-", "--kind", "text", "--subject", "host:a", stdin=b"x").code == 0
    code, found = told(tmp_path, {}, "doctor")
    assert (code, found["fault"]) == (0, set())
    assert told(tmp_path / "nothing", {}, "doctor")[0] == 1
