"""Asynchronous workers as child processes on Kafka and Redis, under a prefix of their own."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines import topics
from engines.cluster import ClusterOptions, clear, open_engine
from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.log import NewRecord, TopicPartition
from engines.opening import to_json
from engines.redis.options import RedisOptions
from schemas.analysis import Analysis
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from schemas.version import StateVersion
from tests.factories import observation
from workers.detection.snapshot import Counts, counts_of, owner_of
from workers.runtime.supervisor import Supervisor

PLUGINS = Path(__file__).parent / "plugins"
MODULE = "casetape.services.async_worker"
GROUP = "detect-async-default"
PARTITIONS = 4
PATIENCE = 90.0
SESSION = 6.0


def records(first: int, last: int) -> list[Observation]:
    """Observations `first` to `last` - 1 of 20 hosts."""
    return [observation(n, subject=f"host:10.0.0.{n % 20}") for n in range(first, last)]


def large(first: int, last: int) -> list[Observation]:
    """The same with 50 kB each that do not compress."""
    return [
        observation(n, subject=f"host:10.0.0.{n % 20}", data={"n": n, "pad": os.urandom(25_000).hex()})
        for n in range(first, last)
    ]


@dataclass
class Rig:
    """Topics and keys of its own, and workers. `bill` is where the tests' detectors note their calls."""

    kafka: str
    redis: str
    folder: Path
    told: list[str] = field(default_factory=list)
    prefix: str = field(default_factory=lambda: f"async{uuid.uuid4().hex[:10]}")

    def __post_init__(self) -> None:
        self.bill = self.folder / "bill"
        self.cluster = ClusterOptions(
            KafkaOptions(self.kafka, prefix=self.prefix), RedisOptions(self.redis, prefix=self.prefix)
        )
        self.engine: Engine = open_engine(self.cluster)
        for topic in topics.ALL:
            self.engine.log.create_topic(topic, PARTITIONS)
        self.supervisor = Supervisor(self.told.append)

    def close(self) -> None:
        """Stops the workers, and deletes what was made."""
        self.supervisor.stop()
        self.engine.close()
        clear(self.cluster)

    def feed(self, observations: Iterable[Observation]) -> None:
        """Puts observations on the tape."""
        self.append([NewRecord(one.case, one.encode()) for one in observations])

    def append(self, new: list[NewRecord]) -> None:
        """Puts records on the tape."""
        self.engine.log.append(topics.OBSERVATIONS, new)

    def options(self, detectors: list[str] | None = None, seconds: float = 0.1, **more: Any) -> dict[str, Any]:
        """A worker's options."""
        names = ["slow"] if detectors is None else detectors
        return {
            "engine": to_json(self.cluster),
            "session_seconds": SESSION,
            "detectors_name": "default",
            "detectors": names,
            "plugins": str(PLUGINS),
            "parameters": {name: {"path": str(self.bill), "seconds": seconds} for name in names},
            "call": 5.0,
            "stuck": 60.0,
            **more,
        }

    def start(self, name: str = "worker 1", **options: Any) -> None:
        """Starts a worker."""
        self.supervisor.start(name, MODULE, self.options(**options))

    def until(self, done: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Looks after the workers until it is done."""
        end = time.monotonic() + patience
        while not done():
            self.supervisor.look_after()
            assert time.monotonic() < end, f"not done after {patience:g} s; told: {self.told}; {self.counts()}"
            time.sleep(0.05)

    def counts(self) -> Counts:
        """The counts of all partitions, as they are saved."""
        total = Counts()
        for manifest in self.engine.store.manifests(f"detect/{GROUP}/").values():
            counts, _ = counts_of(manifest)
            for name in Counts.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(counts, name))
        return total

    def saved_of(self, partitions: Iterable[TopicPartition]) -> int:
        """How many records of these partitions are saved."""
        manifests = self.engine.store.manifests(f"detect/{GROUP}/")
        return sum(manifests[owner_of(GROUP, at)].offset for at in partitions)

    def saved(self) -> int:
        """How many records are saved."""
        return self.counts().consumed

    def calls(self) -> Counter[str]:
        """By observation id: how often a detector was called."""
        return Counter(self.bill.read_text().split() if self.bill.exists() else ())

    def said(self) -> Counter[str]:
        """By analysis id: how often it was published."""
        contents = [one for value in self._values(topics.VERSIONS) for one in StateVersion.parse(value).contents]
        return Counter(one.id for one in contents if one.id.startswith("ana_"))

    def fingerprints(self) -> Counter[str]:
        """By fingerprint: how many different analyses there are."""
        opened = {
            content.id: content.opened()
            for value in self._values(topics.VERSIONS)
            for content in StateVersion.parse(value).contents
        }
        return Counter(one.fingerprint for one in opened.values() if isinstance(one, Analysis))

    def memory(self) -> int:
        """Bytes of memory that the first worker holds."""
        status = Path(f"/proc/{self.supervisor.pids()['worker 1']}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) * 1024

    def quarantined(self) -> list[Quarantined]:
        """All quarantine records, each once."""
        return list({one.id: one for one in map(Quarantined.parse, self._values(topics.QUARANTINE))}.values())

    def _values(self, topic: str) -> list[bytes]:
        log = self.engine.log
        partitions = [TopicPartition(topic, number) for number in range(log.partitions(topic))]
        return [record.value for at in partitions for record in log.read(at, 0, 1_000_000)]
