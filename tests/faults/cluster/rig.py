"""Services on servers of the test's own, which it may stop, kill and set back; and what must hold afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.opening import ClusterOptions, open_engine
from engines.redis.options import RedisOptions
from schemas.errors import CasetapeError
from tests.acceptance.command import Answer, command, environment
from tests.faults.cluster.truths import holds, settled
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports
from tests.servers.redis import RedisServer

PATIENCE = 90.0
EACH = """
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        return Finding("suspicious", 0.5, fingerprint=f"each {observation.data['uid']}", title="each")
"""
HOSTS = 40


def lines(first: int, last: int) -> bytes:
    """DNS records number `first`..`last - 1` as Zeek writes them, over 40 hosts."""
    return b"".join(
        json.dumps(
            {
                "_path": "dns",
                "ts": 1_700_000_000 + number,
                "uid": f"C{number:06}",
                "id.orig_h": f"10.0.{number % HOSTS}.7",
                "id.orig_p": 53_000,
                "id.resp_h": "198.51.100.1",
                "id.resp_p": 53,
                "proto": "udp",
                "query": f"host{number}.example.org",
                "qtype_name": "A",
            }
        ).encode()
        + b"\n"
        for number in range(first, last)
    )


def until(holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Waits until it holds; a server that does not answer meanwhile is no answer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except CasetapeError as error:
            if not error.retriable:
                raise
        assert time.monotonic() < deadline, f"this never came to hold: {what}"
        time.sleep(0.1)


@dataclass
class Service:
    """A `casetape worker` or `casetape merger`."""

    process: subprocess.Popen[bytes]
    health: str
    log: Path

    def ready(self) -> bool:
        """Whether it says that it is ready."""
        return self.asked("ready")[0] == 200

    def asked(self, what: str) -> tuple[int, dict[str, Any]]:
        """What its endpoint answers; (0, {}) where it does not."""
        try:
            with urllib.request.urlopen(f"http://{self.health}/{what}", timeout=5) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            return 0, {}

    def children(self) -> list[int]:
        """The process ids of its services."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(one) for path in tasks for one in path.read_text().split()]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def said(self) -> str:
        """Everything it said."""
        return self.log.read_text()


@dataclass
class Cluster:
    """Two servers and whoever works on them."""

    folder: Path
    kafka: KafkaServer
    redis: RedisServer
    partitions: int = 4
    env: dict[str, str] = field(default_factory=dict)
    services: list[Service] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """The settings of every command."""
        return {
            "CASETAPE_ENGINE": "cluster",
            "CASETAPE_KAFKA__SERVERS": self.kafka.address,
            "CASETAPE_REDIS__URL": self.redis.url,
            "CASETAPE_PARTITIONS": str(self.partitions),
            "CASETAPE_SESSION": "3",
            "CASETAPE_PLUGINS": str(self.folder / "plugins"),
            **self.env,
        }

    @property
    def options(self) -> ClusterOptions:
        """What opens the engine here."""
        return ClusterOptions(
            KafkaOptions(self.kafka.address, append_seconds=20.0), RedisOptions(self.redis.url, answer_seconds=5.0)
        )

    def casetape(self, *args: str | Path, stdin: bytes = b"") -> Answer:
        """Runs a command to its end."""
        done = subprocess.run(
            command(*args),
            input=stdin,
            capture_output=True,
            timeout=240,
            env=environment(self.folder / "home", self.variables()),
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *args: str, ready: bool = True, **env: str) -> Service:
        """Starts a service, and waits until it is ready."""
        (port,) = free_ports(1)
        log = self.folder / f"service-{len(self.services)}.log"
        health = f"127.0.0.1:{port}"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command(*args),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment(self.folder / "home", {**self.variables(), "CASETAPE_HEALTH": health, **env}),
            )
        one = Service(process, health, log)
        self.services.append(one)
        if ready:
            until(one.ready, f"{args[0]} is ready")
        return one

    def worker(self, *args: str, **more: Any) -> Service:
        """Starts a worker of the set `each`."""
        return self.start("worker", "--detectors", "each", *args, **more)

    def merger(self, **more: Any) -> Service:
        """Starts a merger."""
        return self.start("merger", **more)

    def feed(self, first: int, last: int) -> None:
        """Feeds records `first`..`last - 1`."""
        path = self.folder / f"dns-{first}-{last}.log"
        path.write_bytes(lines(first, last))
        answer = self.casetape("feed", path, "--json")
        assert answer.code == 0, answer.err
        assert answer.json["appended"] == last - first

    def feed_refused(self) -> None:
        """Feeding is refused, and says what to do."""
        answer = self.casetape("feed", "-", "--kind", "text", "--subject", "host:10.0.1.7", stdin=b"a sentence")
        assert (answer.code, "casetape rebuild" in answer.err) == (1, True), answer.err

    @contextmanager
    def open(self) -> Iterator[Engine]:
        """The engine."""
        with open_engine(self.options) as engine:
            yield engine

    def settled(self) -> None:
        """Waits until everything is handled, merged and published."""
        with self.open() as engine:
            until(lambda: settled(engine), "everything is handled")

    def holds(self, count: int, **more: int) -> None:
        """What must hold once records 0..count - 1 were fed: see `truths.holds`."""
        with self.open() as engine:
            holds(engine, count, **more)

    def stop(self) -> None:
        """Ends everything."""
        for one in self.services:
            if one.process.poll() is None:
                for child in one.children():
                    _quietly(child, signal.SIGCONT)
                one.process.send_signal(signal.SIGCONT)
                one.stop(signal.SIGKILL)
        self.kafka.stop(signal.SIGKILL)
        self.redis.stop(signal.SIGKILL)


def _quietly(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def made(folder: Path, partitions: int = 4, **env: str) -> Cluster:
    """A cluster with its topics and nothing in it. Skips where there are no servers to start."""
    cluster = Cluster(folder, KafkaServer(folder / "kafka"), RedisServer(folder / "redis"), partitions, env)
    (folder / "plugins").mkdir()
    (folder / "plugins" / "each.py").write_text(EACH)
    cluster.kafka.launch()
    cluster.redis.launch()
    cluster.kafka.wait()
    cluster.redis.wait()
    answer = cluster.casetape("topics", "create")
    assert answer.code == 0, answer.err
    return cluster
