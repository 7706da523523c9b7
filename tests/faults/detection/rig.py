"""A worker on a real embedded engine, driven by hand, with clocks that stand still until they are told to move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engines import topics
from engines.engine import Engine
from engines.log import Consumer, NewRecord, TopicPartition
from engines.sqlite import open_engine
from engines.topics import OBSERVATIONS, QUARANTINE, VERSIONS
from schemas.analysis import Analysis, AnalysisKey
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from schemas.scales import DAY, SECOND
from schemas.version import StateVersion
from tests.factories import START
from workers.detection.partition import Counts, counts_of
from workers.detection.plugin import Detector
from workers.detection.worker import DetectionWorker, WorkerOptions

SESSION = 30.0
Current = dict[str, dict[AnalysisKey, Analysis]]
"""By case: the current analysis of every detector and fingerprint."""


class Clock:
    """Seconds since the epoch, as the engine asks for them; ten days after the first event."""

    def __init__(self) -> None:
        self.seconds = (START + 10 * DAY) / SECOND

    def __call__(self) -> float:
        return self.seconds

    def micros(self) -> int:
        """As the worker asks for them."""
        return round(self.seconds * SECOND)


class Rig:
    """An engine in a folder of its own."""

    def __init__(self, home: Path, partitions: int = 2) -> None:
        self.clock = Clock()
        self.engine: Engine = open_engine(home, session_seconds=SESSION, clock=self.clock)
        for topic in topics.ALL:
            self.engine.log.create_topic(topic, partitions)

    def append(self, observations: Iterable[Observation]) -> None:
        """Puts observations on the tape."""
        self.engine.log.append(OBSERVATIONS, [NewRecord(one.case, one.encode()) for one in observations])

    def host(self, *detectors: Detector, **options: Any) -> Hosted:
        """A worker that has joined its group; `options` are WorkerOptions'."""
        fixed: dict[str, Any] = {"detectors_name": "test", "snapshot_seconds": 1e9}
        chosen = WorkerOptions(**(fixed | options))
        worker = DetectionWorker(self.engine.log, self.engine.store, detectors, chosen, self.clock.micros)
        return Hosted(self, worker)

    def versions(self) -> list[StateVersion]:
        """All branch versions, in the order of their partitions."""
        return [StateVersion.parse(value).proven() for value in self._values(VERSIONS)]

    def said(self) -> list[Analysis]:
        """All analyses, each as often as it was published."""
        contents = [content.opened() for version in self.versions() for content in version.contents]
        return [one for one in contents if isinstance(one, Analysis)]

    def kept(self) -> set[str]:
        """The ids of all observations that came into a case."""
        contents = [content.opened() for version in self.versions() for content in version.contents]
        return {one.id for one in contents if isinstance(one, Observation)}

    def current(self) -> Current:
        """What a merger would make of it."""
        found: Current = {}
        for one in self.said():
            case = found.setdefault(f"{one.tenant}/{one.subject}", {})
            if one.key not in case or one.order > case[one.key].order:
                case[one.key] = one
        return found

    def quarantined(self) -> list[Quarantined]:
        """All quarantine records, each once."""
        return list({one.id: one for one in map(Quarantined.parse, self._values(QUARANTINE))}.values())

    def counts(self) -> Counts:
        """The counts of all partitions, as they are saved."""
        total = Counts()
        for manifest in self.engine.store.manifests("detect/").values():
            counts, _ = counts_of(manifest)
            for name in Counts.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(counts, name))
        return total

    def parts(self) -> Mapping[str, Sequence[str]]:
        """By owner: the names of the parts in the store."""
        store = self.engine.store
        return {owner: store.parts(owner) for owner in store.manifests("detect/")}

    def _values(self, topic: str) -> list[bytes]:
        log = self.engine.log
        partitions = [TopicPartition(topic, number) for number in range(log.partitions(topic))]
        return [record.value for at in partitions for record in log.read(at, 0, 1_000_000)]


class Hosted:
    """A worker as its host runs it, a step at a time."""

    def __init__(self, rig: Rig, worker: DetectionWorker) -> None:
        self.rig, self.worker = rig, worker
        self.consumer: Consumer = rig.engine.log.consumer(
            worker.group, worker.topics, on_assign=self._assign, on_revoke=self._revoke
        )

    def step(self, limit: int = 2_000) -> int:
        """One poll and what follows from it. Returns how many records there were."""
        batches = self.consumer.poll(limit, 0)
        if batches:
            self._commit(self.worker.handle(batches))
        return sum(len(batch.records) for batch in batches)

    def read(self, limit: int = 2_000) -> Hosted:
        """Reads to the end."""
        while self.step(limit):
            continue
        return self

    def idle(self) -> Hosted:
        """What the host calls when nothing comes."""
        self._commit(self.worker.idle())
        return self

    def drain(self) -> Hosted:
        """Concludes what has been read."""
        self._commit(self.worker.drain(self.rig.engine.log.end_offsets(OBSERVATIONS)))
        return self

    def save(self) -> Hosted:
        """Makes a snapshot now."""
        self._commit(self.worker._save(self.worker.owned.values()))
        return self

    def leave(self) -> None:
        """Hands everything back."""
        self.consumer.close()

    def die(self) -> None:
        """Stops as a killed process does: nothing is saved or handed back, and its lease runs out."""
        self.rig.clock.seconds += SESSION + 1

    def _assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.worker.assigned(self.consumer, partitions)

    def _revoke(self, partitions: Sequence[TopicPartition]) -> None:
        self._commit(self.worker.revoking(partitions))

    def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.consumer.commit(offsets)
