"""The servers that all tests of one run share: by address from the environment, else in containers where an engine
answers, else started here, once for all of pytest's workers; else a skip that names what is missing."""

from __future__ import annotations

import fcntl
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

KAFKA, REDIS, FOLDER = "CASETAPE_TEST_KAFKA", "CASETAPE_TEST_REDIS", "CASETAPE_TEST_SERVERS"


@dataclass(frozen=True)
class Servers:
    """Addresses: `kafka` as host:port, `redis` as a URL."""

    kafka: str
    redis: str


def servers() -> Servers:
    """The servers; skips the test, naming what is missing, where there are none."""
    given = os.environ.get(KAFKA), os.environ.get(REDIS)
    if given[0] and given[1]:
        return Servers(given[0], given[1])
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _read(folder)
        if not found:
            found = _start(folder)
            (folder / "servers.json").write_text(json.dumps(found))
    if "missing" in found:
        pytest.skip(found["missing"])
    return Servers(found["kafka"], found["redis"])


def _read(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "servers.json").read_text())
    except FileNotFoundError:
        return {}
    return found


def _start(folder: Path) -> dict[str, Any]:
    # clients that only tests of servers need
    from tests.servers import containers, kafka, redis

    if containers.engine_answers():
        return containers.start()
    lacking = [one for one in (kafka.missing(), redis.missing()) if one]
    if lacking:
        return {"missing": f"no container engine answers, {KAFKA} and {REDIS} are not set, and: {'; '.join(lacking)}"}
    broker, store = kafka.KafkaServer(folder / "kafka", heap=768), redis.RedisServer(folder / "redis")
    broker.launch()
    store.launch()
    broker.wait()
    store.wait()
    return {"kafka": broker.address, "redis": store.url, "processes": [broker.pid, store.pid]}


def end(folder: Path) -> None:
    """Stops what was started for the run."""
    found = _read(folder)
    for pid in found.get("processes", ()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if "containers" in found:
        from tests.servers import containers

        containers.stop(found["containers"])
