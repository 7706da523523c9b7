"""Servers that the tests of a module share, each under a prefix of its own; services whose child is one of the tests'
own; and what the tests of streams ask of a tape."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka import KafkaProducer

from casetape.lone import Lone, serve_alone
from casetape.services.options import worker_options
from casetape.settings import Settings
from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.log import TopicPartition
from engines.opening import ClusterOptions
from engines.partitioner import partition_of
from engines.redis.options import RedisOptions
from engines.topics import OBSERVATIONS, QUARANTINE
from merge.history import state_at
from merge.tape import records
from schemas.analysis import Analysis
from schemas.errors import UnknownCase
from schemas.quarantined import Quarantined
from tests.faults.cluster.rig import EACH, Cluster, Service, until
from tests.faults.cluster.truths import findings, settled
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports
from tests.servers.redis import RedisServer


@dataclass
class Shared(Cluster):
    """A cluster on servers that outlive it: what it leaves lies under its prefix."""

    prefix: str = "casetape"

    def variables(self) -> dict[str, str]:
        return {**super().variables(), "CASETAPE_PREFIX": self.prefix}

    @property
    def options(self) -> ClusterOptions:
        return ClusterOptions(
            KafkaOptions(self.kafka.address, prefix=self.prefix, append_seconds=20.0),
            RedisOptions(self.redis.url, prefix=self.prefix, answer_seconds=5.0),
        )

    def plugin(self, text: str, name: str = "each") -> None:
        """Puts a plug-in in the place of whatever has this name."""
        (self.folder / "plugins" / f"{name}.py").write_text(text)

    def work(self, **env: str) -> tuple[Service, Service]:
        """Starts a worker and a merger side by side, and waits until both are ready."""
        both = self.worker(ready=False, **env), self.merger(ready=False)
        until(lambda: all(one.ready() for one in both), "worker and merger are ready")
        return both

    def finished(self, said: int | Callable[[Engine], bool], *workers: Service) -> None:
        """Waits until there are so many findings, or what is given holds; ends the workers, which then save what they
        know at once instead of after a pause; and waits until everything is handled, merged and published."""
        with self.open() as engine:
            if isinstance(said, int):
                until(lambda: sum(findings(engine).values()) >= said, f"there are {said} findings")
            else:
                until(lambda: said(engine), "it has come to what was expected")
            for one in workers:
                assert one.stop() == 0, one.said()
            until(lambda: settled(engine), "everything is handled")

    def send(self, topic: str, values: Sequence[tuple[str, bytes]]) -> list[TopicPartition]:
        """Writes records (key, bytes) as a foreign producer does; where each of them went."""
        producer = KafkaProducer(bootstrap_servers=self.kafka.address, max_request_size=4 * 2**20)
        try:
            placed = []
            for key, value in values:
                at = TopicPartition(topic, partition_of(key, self.partitions))
                sent = producer.send(f"{self.prefix}.{topic}", key=key.encode(), value=value, partition=at.partition)
                sent.get(20)
                placed.append(at)
            return placed
        finally:
            producer.close()

    def stop(self) -> None:
        """Ends the services."""
        for one in self.services:
            if one.process.poll() is None:
                thaw(one)
                one.stop(signal.SIGKILL)


def thaw(service: Service) -> None:
    """Lets every process of a service go on."""
    for child in service.children():
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGCONT)
    service.process.send_signal(signal.SIGCONT)


@dataclass(frozen=True)
class Servers:
    """A broker and a Redis, for the tests of one module."""

    kafka: KafkaServer
    redis: RedisServer


@contextmanager
def servers_in(folder: Path) -> Iterator[Servers]:
    """Both, until the block ends."""
    there = Servers(KafkaServer(folder / "kafka"), RedisServer(folder / "redis"))
    there.kafka.launch()
    there.redis.launch()
    try:
        there.kafka.wait()
        there.redis.wait()
        yield there
    finally:
        there.kafka.stop(signal.SIGKILL)
        there.redis.stop(signal.SIGKILL)


def made_on(servers: Servers, folder: Path, prefix: str, partitions: int = 2, **env: str) -> Shared:
    """A cluster with its topics and nothing in it."""
    cluster = Shared(folder, servers.kafka, servers.redis, partitions, env, prefix=prefix)
    (folder / "plugins").mkdir()
    cluster.plugin(EACH)
    answer = cluster.casetape("topics", "create")
    assert answer.code == 0, answer.err
    return cluster


@dataclass
class Served:
    """Services that run under `serve_alone` in a thread of the test's own process: what they said, how it ended."""

    said: list[str] = field(default_factory=list)
    address: str = ""
    error: BaseException | None = None
    thread: threading.Thread | None = None

    def asked(self, what: str) -> tuple[int, dict[str, Any]]:
        """What its endpoint answers."""
        return Service.asked(self, what)  # type: ignore[arg-type]  # all that is asked of it is its address

    @property
    def health(self) -> str:
        """Where it answers."""
        return self.address


@contextmanager
def serving(cluster: Shared, module: str, *, count: int = 1, stuck: float = 3.0, **kafka: Any) -> Iterator[Served]:
    """Hosts a worker of the set `each` whose child is another module; `kafka`: options of its log."""
    (port,) = free_ports(1)
    settings = _settings(cluster, f"127.0.0.1:{port}", stuck)
    options: dict[str, Any] = worker_options(settings, bounded=False, detectors_name="each")
    options["engine"]["kafka"] |= kafka
    lone = Lone("worker", module, options, count, "detect-each", OBSERVATIONS)
    served, enough, up = Served(address=f"127.0.0.1:{port}"), threading.Event(), threading.Event()

    def serve() -> None:
        try:
            serve_alone(settings, lone, served.said.append, on_ready=lambda _: up.set(), stopped=enough.is_set)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            served.error = error
            up.set()

    served.thread = threading.Thread(target=serve, daemon=True)
    served.thread.start()
    try:
        assert up.wait(60), served.said
        yield served
    finally:
        enough.set()
        served.thread.join(60)


def _settings(cluster: Shared, health: str, stuck: float) -> Settings:
    return Settings.model_validate(
        {
            "home": cluster.folder / "home",
            "engine": "cluster",
            "kafka": {"servers": cluster.kafka.address},
            "redis": {"url": cluster.redis.url},
            "prefix": cluster.prefix,
            "partitions": cluster.partitions,
            "session": 3.0,
            "plugins": cluster.folder / "plugins",
            "detectors": ("each",),
            "health": health,
            "stuck": stuck,
        }
    )


def quarantined(engine: Engine) -> list[Quarantined]:
    """What lies in quarantine, each once."""
    found = {}
    for partition, end in engine.log.end_offsets(QUARANTINE).items():
        for record in records(engine.log, TopicPartition(QUARANTINE, partition), end):
            one = Quarantined.parse(record.value)
            found[one.id] = one
    return list(found.values())


def analyses(engine: Engine, case: str) -> list[Analysis]:
    """All analyses of a case, those that are not current too; none where there is no such case yet."""
    try:
        return list(state_at(engine.store, case, log=engine.log).analyses.values())
    except UnknownCase:
        return []


def dns(uid: str, query: str = "host.example.org", at: int = 1_700_000_000, host: str = "10.0.1.7") -> bytes:
    """One DNS record as Zeek writes it."""
    line = {"_path": "dns", "ts": at, "uid": uid, "id.orig_h": host, "id.orig_p": 53_000, "id.resp_h": "198.51.100.1"}
    return json.dumps({**line, "id.resp_p": 53, "proto": "udp", "query": query, "qtype_name": "A"}).encode() + b"\n"


def feed(cluster: Cluster, text: bytes, *args: str) -> Mapping[str, Any]:
    """Feeds lines; the report."""
    report: Mapping[str, Any] = cluster.casetape("feed", "-", "--json", *args, stdin=text).json
    return report


def memory(process: int) -> int:
    """What a process has in memory, in bytes; 0 where it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = [line for line in text.splitlines() if line.startswith("VmRSS:")]
    return int(found[0].split()[1]) * 1024 if found else 0
