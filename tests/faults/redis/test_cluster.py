"""The store part of the conformance kit on a real Redis Cluster: every script finds its keys in one slot."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import cast

import pytest
import redis

from engines.engine import Engine
from engines.log import EventLog
from engines.redis import delete_all, open_store
from engines.redis.keys import patterns
from engines.redis.options import RedisOptions
from tests.conformance import test_index, test_lines, test_pruning, test_windows
from tests.conformance.lines import CASE, GENESIS, commit
from tests.conformance.test_index import rows
from tests.faults.redis.cluster import cluster
from tests.servers.redis import RedisServer, missing

__all__ = ["rows"]

pytestmark = pytest.mark.needs_services


def _takes_an_engine(test: object) -> bool:
    return inspect.isfunction(test) and set(inspect.signature(test).parameters).isdisjoint({"adapter"})


globals().update(
    (name, one)
    for module in (test_lines, test_index, test_windows, test_pruning)
    for name, one in vars(module).items()
    if name.startswith("test_") and _takes_an_engine(one)
)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RedisServer]]:
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with cluster(tmp_path_factory.mktemp("cluster")) as servers:
        yield servers


@pytest.fixture
def engine(nodes: list[RedisServer]) -> Iterator[Engine]:
    options = RedisOptions(nodes[1].url, prefix="kit", cluster=True)
    store = open_store(options)
    yield Engine(cast(EventLog, None), store)
    found = [key.decode() for key in _keys(nodes)]
    store.close()
    delete_all(options)
    strange = [key for key in found if not any(re.fullmatch(one, key) for one in patterns("kit"))]
    assert strange == [], "keys that `keys.py` does not name"
    assert _keys(nodes) == []


def _keys(nodes: list[RedisServer]) -> list[bytes]:
    found: list[bytes] = []
    for one in nodes:
        with redis.Redis(port=one.port) as client:
            found += client.keys("*")
    return found


def test_a_cluster_that_forgets_scripts(engine: Engine, nodes: list[RedisServer]) -> None:
    for one in nodes:
        with redis.Redis(port=one.port) as client:
            client.script_flush()
    cases = [f"acme/host:{number}" for number in range(50)]
    assert engine.store.commit([commit(case, GENESIS) for case in [*cases, CASE]]) == [True] * 51
    assert engine.store.count("acme") == 51
