"""Servers that a test may stop, kill and set back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.cluster.rig import Cluster, made
from tests.faults.cluster.sharing import Servers, Shared, made_on, servers_in
from tests.servers import kafka, redis


def _skip_where_missing() -> None:
    lacking = [one for one in (kafka.missing(), redis.missing()) if one]
    if lacking:
        pytest.skip("; ".join(lacking))


@pytest.fixture
def cluster_of(tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    """Makes a cluster of the test's own."""
    _skip_where_missing()
    there: list[Cluster] = []

    def make(partitions: int = 4, **env: str) -> Cluster:
        there.append(made(tmp_path, partitions, **env))
        return there[-1]

    yield make
    for one in there:
        one.stop()


@pytest.fixture
def cluster(cluster_of: Callable[..., Cluster]) -> Cluster:
    """One with four partitions."""
    return cluster_of()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A broker and a Redis that the tests of a module share; whoever stops one lets it go on."""
    _skip_where_missing()
    with servers_in(tmp_path_factory.mktemp("servers")) as there:
        yield there


@pytest.fixture
def shared_of(servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Shared]]:
    """Makes a cluster on those servers, under a prefix of its own."""
    # a child looks for its module there, and not in the working folder
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    there: list[Shared] = []

    def make(partitions: int = 2, **env: str) -> Shared:
        there.append(made_on(servers, tmp_path, f"test-{uuid.uuid4().hex[:12]}", partitions, **env))
        return there[-1]

    yield make
    for one in there:
        one.stop()


@pytest.fixture
def shared(shared_of: Callable[..., Shared]) -> Shared:
    """One with two partitions."""
    return shared_of()
