"""Brokers of the tests' own, to stop, kill and cut; and a log on the brokers that all tests share."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.kafka import delete_all
from engines.kafka.options import KafkaOptions
from tests.servers import kafka
from tests.servers.kafka import KafkaServer
from tests.servers.shared import servers


def skip_where_missing() -> None:
    """Skips a test that needs a broker of its own where none can be started."""
    missing = kafka.missing()
    if missing:
        pytest.skip(missing)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """A broker that a test may stop; it must run again afterwards."""
    skip_where_missing()
    server = KafkaServer(tmp_path_factory.mktemp("broker"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def own(broker: KafkaServer) -> KafkaOptions:
    """Options for that broker, with little patience."""
    return KafkaOptions(broker.address, prefix=_prefix(), reach_seconds=3.0, append_seconds=3.0, poll_seconds=20.0)


@pytest.fixture
def shared() -> Iterator[KafkaOptions]:
    """Options for the brokers that all tests share."""
    options = KafkaOptions(servers().kafka, prefix=_prefix(), append_seconds=20.0, poll_seconds=20.0)
    yield options
    delete_all(replace(options, append_seconds=10.0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a test may put a broker."""
    skip_where_missing()
    return tmp_path / "broker"


def _prefix() -> str:
    return f"test-{uuid.uuid4().hex[:12]}"
