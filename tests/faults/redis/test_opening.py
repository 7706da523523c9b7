"""Opening: one clear message, in time, and never a password."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from engines.redis import open_store, opening
from engines.redis.options import RedisOptions
from schemas.errors import AccessDenied, EngineError, EngineUnavailable, UsageError
from tests.conformance.lines import CASE, GENESIS, commit
from tests.servers.process import free_ports
from tests.servers.redis import ALWAYS, RedisServer, missing

pytestmark = pytest.mark.needs_services
PASSWORD = "wonderland"  # noqa: S105 - of a server that lives as long as a test


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[RedisServer]:
    """A server with a password."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    one = RedisServer(tmp_path / "locked", (*ALWAYS, "--requirepass", PASSWORD))
    one.start()
    yield one
    one.stop()


def at(server: RedisServer, *, login: str = "", **other: object) -> RedisOptions:
    options = {"prefix": "faults", "reach_seconds": 2.0, "answer_seconds": 2.0, **other}
    return RedisOptions(f"redis://{login}127.0.0.1:{server.port}/0", **options)  # type: ignore[arg-type]  # as named


def test_no_server() -> None:
    (port,) = free_ports(1)
    began = time.monotonic()
    with pytest.raises(EngineUnavailable) as caught:
        open_store(RedisOptions(f"redis://alice:{PASSWORD}@127.0.0.1:{port}/0", reach_seconds=1.0))
    assert time.monotonic() - began < 2.0
    words = str(caught.value)
    assert words.startswith(f"Redis at 127.0.0.1:{port} does not answer: ")
    assert "start it, or correct `redis.url`" in words.lower()
    assert PASSWORD not in words


def test_a_server_that_comes_up_in_time(server: RedisServer) -> None:
    server.kill()
    server.launch()
    open_store(at(server, reach_seconds=20.0)).close()


@pytest.mark.parametrize("login", ["", f"alice:{PASSWORD}x@", f":{PASSWORD}x@"], ids=["none", "user", "password"])
def test_a_wrong_login(locked: RedisServer, login: str) -> None:
    with pytest.raises(AccessDenied, match=r"check `redis.user`, its password and rights") as caught:
        open_store(at(locked, login=login))
    assert PASSWORD not in str(caught.value)


def test_the_right_login(locked: RedisServer) -> None:
    open_store(at(locked, login=f":{PASSWORD}@")).close()
    # what the settings say besides the URL counts
    open_store(at(locked, login=":something@", password=PASSWORD)).close()


def test_a_user_that_lacks_a_right(server: RedisServer) -> None:
    with redis.Redis(port=server.port) as client:
        client.execute_command("ACL", "SETUSER", "bob", "on", f">{PASSWORD}", "~faults:*", "+@all", "-script")
        client.execute_command("ACL", "SETUSER", "eve", "on", f">{PASSWORD}", "~faults:*", "+@all", "-hincrby")
        client.execute_command("ACL", "SETUSER", "tom", "on", f">{PASSWORD}", "~other:*", "+@all")
    for user in ("bob", "tom"):
        with pytest.raises(AccessDenied) as caught:
            open_store(at(server, user=user, password=PASSWORD))
        assert PASSWORD not in str(caught.value)
    store = open_store(at(server, user="eve", password=PASSWORD))
    with pytest.raises(AccessDenied):
        store.commit([commit(CASE, GENESIS)])
    store.close()


@pytest.mark.parametrize("url", ["http://a:secret@b", "localhost:6379", "redis://a:secret@b:port/0"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_store(RedisOptions(url))
    assert "secret" not in str(caught.value)


def test_certificates_without_tls() -> None:
    with pytest.raises(UsageError, match="rediss://"):
        open_store(RedisOptions("redis://localhost", ca_file="ca.pem"))


@pytest.mark.parametrize(
    ("told", "fits"),
    [
        ({"redis_version": "7.0.15"}, True),
        ({"redis_version": "8.2.1"}, True),
        ({"redis_version": "6.2.14"}, False),
        ({"redis_version": "7.2.4", "valkey_version": "8.1.0"}, True),
        ({"redis_version": "7.2.4", "valkey_version": "7.2.11"}, True),
        ({}, False),
    ],
)
def test_versions(told: dict[str, str], fits: bool) -> None:
    if fits:
        opening._check_version(told, "here:1")
    else:
        with pytest.raises(EngineError, match=r"Redis at here:1 is version .*, and casetape needs 7\.0 or newer"):
            opening._check_version(told, "here:1")


def test_keys_of_another_form(server: RedisServer) -> None:
    with redis.Redis(port=server.port) as client:
        client.hset("faults:{:store}:about", "form", 2)
    with pytest.raises(EngineError, match="has form 2"):
        open_store(at(server))


def test_a_server_that_may_lose_data_is_told_of(server: RedisServer, tmp_path: Path) -> None:
    store = open_store(at(server))
    assert {one.level for one in store.look_over()} == {"ok"}
    with redis.Redis(port=server.port) as client:
        client.config_set("appendfsync", "everysec")
        client.config_set("maxmemory-policy", "allkeys-lru")
    levels = {one.about: one.level for one in store.look_over()}
    assert levels == {"Redis": "ok", "Redis durability": "warning", "Redis eviction": "fault"}
    store.close()
