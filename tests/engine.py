"""Which engine a test's home lies on: a file in the home, or, where the environment says so, topics and keys on real
servers under a prefix of the home's own."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.opening import ClusterOptions, EmbeddedOptions, EngineOptions, open_engine
from engines.redis.options import RedisOptions
from engines.topics import ALL, DEFAULT_PARTITIONS
from tests.servers.shared import servers

CHOICE = "CASETAPE_TEST_ENGINE"
SHORTEST_SESSION = 1.0
"""Seconds: what the tests' broker takes."""
_used: set[str] = set()


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Homes lie on this engine inside the block; what was made on servers is removed afterwards."""
    if name == "embedded":
        yield
        return
    found = servers()
    os.environ[CHOICE] = json.dumps({"kafka": found.kafka, "redis": found.redis})
    try:
        yield
    finally:
        from engines.cluster import clear

        for prefix in _used:
            clear(ClusterOptions(KafkaOptions(found.kafka, prefix=prefix), RedisOptions(found.redis, prefix=prefix)))
        _used.clear()
        del os.environ[CHOICE]


def on_servers() -> bool:
    """Whether homes lie on servers now."""
    return CHOICE in os.environ


def options_of(home: Path) -> EngineOptions:
    """How the engine of a home is opened."""
    if not on_servers():
        return EmbeddedOptions(home)
    return _options_at(_prefix(home))


def _options_at(prefix: str) -> ClusterOptions:
    at = json.loads(os.environ[CHOICE])
    return ClusterOptions(KafkaOptions(at["kafka"], prefix=prefix), RedisOptions(at["redis"], prefix=prefix))


def variables(home: Path, partitions: int = DEFAULT_PARTITIONS) -> dict[str, str]:
    """What a command's environment says of the engine of a home. On servers nobody but `casetape topics create` makes
    topics: those of a home that is new are made here, with so many partitions."""
    if not on_servers():
        return {}
    at = json.loads(os.environ[CHOICE])
    prefix = _named(home)
    if prefix not in _used:
        _used.add(prefix)
        with open_engine(_options_at(prefix)) as engine:
            for topic in ALL:
                engine.log.create_topic(topic, partitions)
    return {
        "CASETAPE_ENGINE": "cluster",
        "CASETAPE_KAFKA__SERVERS": at["kafka"],
        "CASETAPE_REDIS__URL": at["redis"],
        "CASETAPE_PREFIX": prefix,
    }


def open_home(home: Path, *, session_seconds: float = 30.0, create: bool = True, read_only: bool = False) -> Engine:
    """The engine of a home."""
    seconds = max(SHORTEST_SESSION, session_seconds) if on_servers() else session_seconds
    return open_engine(options_of(home), session_seconds=seconds, create=create, read_only=read_only)


def _named(home: Path) -> str:
    return f"t-{hashlib.sha256(str(home.absolute()).encode()).hexdigest()[:16]}"


def _prefix(home: Path) -> str:
    prefix = _named(home)
    _used.add(prefix)
    return prefix
