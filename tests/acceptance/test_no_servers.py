"""What does not work is one clear message with what to do, and exit 1; what may pass by itself is tried for a while."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import Answer, casetape
from tests.servers import kafka, redis
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports
from tests.servers.redis import RedisServer
from tests.servers.shared import Servers, servers

pytestmark = pytest.mark.needs_services
SECRET = "a-password-that-nobody-may-see"  # noqa: S105 - of servers that live for these tests
ACCOUNTS = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_casetape="{SECRET}";'


@pytest.fixture(scope="module")
def shared() -> Servers:
    """Servers that answer."""
    return servers()


def asked(folder: Path, at: Servers, *args: str, **env: str) -> Answer:
    """A verb on these servers that waits a second for them."""
    variables = {
        "CASETAPE_ENGINE": "cluster",
        "CASETAPE_KAFKA__SERVERS": at.kafka,
        "CASETAPE_REDIS__URL": at.redis,
        "CASETAPE_KAFKA__REACH": "2",
        "CASETAPE_REDIS__REACH": "2",
        "CASETAPE_PREFIX": folder.name.replace("_", "-")[:60].lower(),
        "FORCE_COLOR": "",
    }
    return casetape(folder, *args, env={**variables, **env})


def one_message(answer: Answer, *words: str) -> None:
    """Exit 1, nothing on standard output, and one line that has these words and no secret."""
    assert answer.code == 1, answer
    assert answer.out == ""
    (line,) = answer.err.splitlines()
    assert line.startswith("casetape: ")
    for word in words:
        assert word in line
    assert SECRET not in answer.err


@pytest.mark.parametrize("verb", [("topics", "create"), ("worker",), ("run",)])
def test_no_broker(tmp_path: Path, shared: Servers, verb: tuple[str, ...]) -> None:
    (port,) = free_ports(1)
    started = time.monotonic()
    answer = asked(tmp_path, shared.__class__(f"127.0.0.1:{port}", shared.redis), *verb)
    one_message(answer, f"127.0.0.1:{port}", "does not answer", "Start it", "kafka.servers")
    assert time.monotonic() - started >= 2, "it is tried again until the time is over"


@pytest.mark.parametrize("verb", [("topics", "create"), ("worker",), ("run",)])
def test_no_redis(tmp_path: Path, shared: Servers, verb: tuple[str, ...]) -> None:
    (port,) = free_ports(1)
    answer = asked(tmp_path, Servers(shared.kafka, f"redis://127.0.0.1:{port}/0"), *verb)
    one_message(answer, f"127.0.0.1:{port}", "does not answer", "Start it", "redis.url")


def test_missing_topics(tmp_path: Path, shared: Servers) -> None:
    for verb in ("worker", "merger"):
        one_message(asked(tmp_path, shared, verb), "observations", "casetape topics create")
    check = asked(tmp_path, shared, "topics", "check")
    assert (check.code, check.out.count("is missing")) == (1, 4)


def test_too_few_partitions(tmp_path: Path, shared: Servers) -> None:
    assert asked(tmp_path, shared, "topics", "create", CASETAPE_PARTITIONS="2").code == 0
    answer = asked(tmp_path, shared, "worker", CASETAPE_PARTITIONS="3")
    one_message(answer, "2 partitions", "3", "partitions")
    assert asked(tmp_path, shared, "topics", "check", CASETAPE_PARTITIONS="2").code == 0
    assert asked(tmp_path, shared, "topics", "check", CASETAPE_PARTITIONS="3").code == 1


@pytest.fixture
def guarded_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that wants a password."""
    if (lacking := redis.missing()) is not None:
        pytest.skip(lacking)
    server = RedisServer(tmp_path / "redis", ("--requirepass", SECRET))
    server.start()
    yield server
    server.stop()


def test_a_wrong_password_for_redis(tmp_path: Path, shared: Servers, guarded_redis: RedisServer) -> None:
    at = Servers(shared.kafka, guarded_redis.url)
    for env in ({}, {"CASETAPE_REDIS__PASSWORD": "another"}):
        one_message(asked(tmp_path, at, "topics", "create", **env), "Redis", "refuses", "password")
    held = tmp_path / "secret"
    held.write_text(f"{SECRET}\n")
    assert asked(tmp_path, at, "topics", "create", CASETAPE_REDIS__PASSWORD_FILE=str(held)).code == 0


@pytest.fixture
def guarded_kafka(tmp_path: Path) -> Iterator[KafkaServer]:
    """A Kafka that wants a password."""
    if (lacking := kafka.missing()) is not None:
        pytest.skip(lacking)
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": ACCOUNTS,
    }
    server = KafkaServer(tmp_path / "kafka", protocol="SASL_PLAINTEXT", settings=settings)
    server.start()
    yield server
    server.stop()


def test_a_wrong_password_for_kafka(tmp_path: Path, shared: Servers, guarded_kafka: KafkaServer) -> None:
    at = Servers(guarded_kafka.address, shared.redis)
    env = {
        "CASETAPE_KAFKA__SECURITY": "SASL_PLAINTEXT",
        "CASETAPE_KAFKA__MECHANISM": "PLAIN",
        "CASETAPE_KAFKA__USER": "casetape",
        "CASETAPE_KAFKA__REACH": "15",
    }
    wrong = asked(tmp_path, at, "topics", "create", **env, CASETAPE_KAFKA__PASSWORD="another")  # noqa: S106 - and a wrong one
    one_message(wrong, "Kafka", "does not let user `casetape`", "kafka.password")
    assert asked(tmp_path, at, "topics", "create", **env, CASETAPE_KAFKA__PASSWORD=SECRET).code == 0
