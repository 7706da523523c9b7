"""Redis servers of the tests' own, to wipe, kill and restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines.redis import RedisStore, open_store
from engines.redis.options import RedisOptions
from tests.servers.redis import RedisServer, missing

Opens = Callable[..., RedisStore]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that has on the disk what it acknowledged."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    one = RedisServer(tmp_path / "redis")
    one.start()
    yield one
    one.stop()


@pytest.fixture
def opens(server: RedisServer) -> Iterator[Opens]:
    """Opens stores on it, and closes them."""
    opened: list[RedisStore] = []

    def again(answer_seconds: float = 10.0) -> RedisStore:
        opened.append(open_store(RedisOptions(server.url, prefix="faults", answer_seconds=answer_seconds)))
        return opened[-1]

    yield again
    for one in opened:
        one.close()


@pytest.fixture
def store(opens: Opens) -> RedisStore:
    """A store with an epoch."""
    one = opens()
    assert one.begin("first")
    return one
