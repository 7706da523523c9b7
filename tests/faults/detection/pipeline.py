"""Workers and a merger as child processes on a home, as `casetape run` has them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from casetape.services.options import merger_options
from casetape.settings import Settings
from engines import topics
from engines.engine import Engine
from engines.log import TopicPartition, lag
from engines.opening import to_json
from engines.topics import OBSERVATIONS, QUARANTINE, STATES
from merge.tape import MERGER
from schemas.analysis import Analysis, AnalysisKey
from schemas.quarantined import Quarantined
from schemas.version import StateVersion
from tests.engine import open_home, options_of
from tests.factories import START
from workers.detection.snapshot import Counts, counts_of
from workers.feed.feeder import Feeder
from workers.feed.options import FeedOptions
from workers.feed.plan import plan
from workers.runtime.supervisor import Supervisor

DAY_ONE = Path(__file__).parents[2] / "fixtures" / "apt29-zeek" / "day1.zeek.json.gz"
WORKER = "tests.faults.detection.worker_process"
SESSION = 2.0
PATIENCE = 120.0


@dataclass(frozen=True)
class Outcome:
    """What everything came to: by case the current analyses' ids and the assessment; the counts; what was
    quarantined."""

    analyses: Mapping[str, Mapping[AnalysisKey, str]]
    assessments: Mapping[str, tuple[object, ...]]
    counts: Counts
    quarantined: frozenset[str]


@dataclass
class Pipeline:
    """A home, fed with the first day, and whoever works on it."""

    home: Path
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engine: Engine = open_home(self.home)
        self.supervisor = Supervisor(self.told.append)

    def fed(self) -> Pipeline:
        """Feeds the first day."""
        for topic in topics.ALL:
            self.engine.log.create_topic(topic, 4)
        options = FeedOptions()
        feeder = Feeder(self.engine.log, self.engine.store, options, lambda: START)
        for one in plan([str(DAY_ONE)], options).files:
            feeder.feed_planned(one)
        return self

    def options(self, **more: Any) -> dict[str, Any]:
        """A child's options."""
        return {"engine": to_json(options_of(self.home)), "session_seconds": SESSION, **more}

    def started(self, workers: int = 1) -> Pipeline:
        """Starts workers and a merger, and tells them where the input ends."""
        for number in range(workers):
            self.supervisor.start(f"worker {number + 1}", WORKER, self.options())
        merger = merger_options(Settings(home=self.home)) | self.options()
        self.supervisor.start("merger", "casetape.services.merger", merger)
        self.supervisor.until(self.engine.log.end_offsets(OBSERVATIONS))
        return self

    def until(self, done: Callable[[], bool]) -> None:
        """Looks after the children until it is done."""
        end = time.monotonic() + PATIENCE
        while not done():
            self.supervisor.look_after()
            assert time.monotonic() < end, f"not done after {PATIENCE:g} s; told: {self.told}"
            time.sleep(0.02)

    def finish(self) -> Outcome:
        """Waits until everything is concluded, merged and published; stops; tells what it came to."""
        self.until(self.concluded)
        self.until(lambda: not any(lag(self.engine.log, MERGER, topics.VERSIONS).values()))
        self.until(lambda: not self.engine.store.unpublished(1))
        self.supervisor.stop()
        outcome = self.outcome()
        self.engine.close()
        return outcome

    def concluded(self) -> bool:
        """Whether every partition is concluded up to its end."""
        ends = self.engine.log.end_offsets(OBSERVATIONS)
        manifests = self.engine.store.manifests("detect/")
        done = {int(owner.rpartition("/")[2]): counts_of(one)[1] for owner, one in manifests.items()}
        return all(done.get(partition, 0) >= end for partition, end in ends.items())

    def consumed(self) -> int:
        """How many records lie below the snapshots."""
        return sum(manifest.offset for manifest in self.engine.store.manifests("detect/").values())

    def outcome(self) -> Outcome:
        """See Outcome."""
        current: dict[str, dict[AnalysisKey, Analysis]] = {}
        for value in self._values(STATES):
            version = StateVersion.parse(value).proven()
            for content in version.contents:
                one = content.opened()
                if isinstance(one, Analysis):
                    case = current.setdefault(version.case, {})
                    case[one.key] = max(one, case.get(one.key, one), key=lambda each: each.order)
        rows = self.engine.store.cases(None)
        counts = Counts()
        for manifest in self.engine.store.manifests("detect/").values():
            for name in Counts.__struct_fields__:
                setattr(counts, name, getattr(counts, name) + getattr(counts_of(manifest)[0], name))
        return Outcome(
            {case: {key: one.id for key, one in found.items()} for case, found in current.items()},
            {row.key: (row.verdict, row.severity, row.score, row.analyses, row.conflicts) for row in rows},
            counts,
            frozenset(Quarantined.parse(value).id for value in self._values(QUARANTINE)),
        )

    def _values(self, topic: str) -> list[bytes]:
        log = self.engine.log
        partitions = [TopicPartition(topic, number) for number in range(log.partitions(topic))]
        return [record.value for at in partitions for record in log.read(at, 0, 1_000_000)]
