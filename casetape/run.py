"""`casetape run`: feed, detect in N processes, merge, stop when everything has been read and concluded."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from casetape.services.options import DETECTORS_NAME, merger_options, worker_options
from casetape.settings import Settings
from engines import topics
from engines.engine import Engine
from engines.log import TopicPartition, lag
from engines.retention import trim_older
from engines.sqlite import open_engine
from merge.policies.registry import Registry, policies
from merge.tape import MERGER
from schemas.scales import DAY
from schemas.version import StateVersion
from workers.detection.partition import Counts, counts_of, owner_of
from workers.detection.registry import create, discover
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import plan
from workers.runtime.supervisor import Supervisor

GROUP = f"detect-{DETECTORS_NAME}"
WAIT_SECONDS = 0.02
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did. fed + backlog = recorded + duplicates + quarantined: `fed` records were read, `backlog` lay on
    the tape already and had not been looked at; `recorded` are new on the tape; `faults` are failures of plug-ins."""

    fed: int
    backlog: int
    recorded: int
    duplicates: int
    quarantined: int
    late: int
    faults: int
    analyses: int
    versions: int
    cases: int
    seconds: float
    observations_per_second: float

    def to_json(self) -> dict[str, int | float]:
        """As `--json` prints it."""
        return asdict(self)


def now() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what goes on: `progress` gets bytes read of a file, bytes in all (None: unknown) and its counts;
    `tell` gets sentences."""

    progress: Callable[[int, int | None, FeedCounts], None]
    tell: Callable[[str], None]


def run(settings: Settings, paths: Sequence[str], options: FeedOptions, listener: Listener) -> RunReport:
    """Feeds the paths and works off everything on the tape. Raises UsageError before anything is written, and whatever
    the services and engines raise."""
    planned = plan(paths, options)
    for one in planned.skipped:
        listener.tell(f"left out: {one.path}: {one.reason}")
    registry = discover(settings.plugins)
    for refused in registry.refused:
        listener.tell(f"detector {refused.name} was refused: {refused.reason} ({refused.source})")
    create(registry, settings.detectors, settings.parameters)
    policies(Registry.installed(), settings.policy_choice())
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(settings.home, session_seconds=settings.session))
        for topic in topics.ALL:
            engine.log.create_topic(topic, settings.partitions)
        before = _Mark.now(engine)
        supervisor = Supervisor(listener.tell)
        stack.callback(supervisor.stop)
        _start(supervisor, settings, engine, listener)

        def progress(done: int, size: int | None, counts: FeedCounts) -> None:
            supervisor.look_after()
            listener.progress(done, size, counts)

        feeder = Feeder(engine.log, engine.store, options, now, on_progress=progress)
        fed = sum(map(feeder.feed_planned, planned.files), FeedCounts())
        _drain(engine, supervisor)
        report = _report(engine, before, fed)
        # what a service has saved it commits at the latest when it leaves, and only what is committed may be trimmed
        supervisor.stop()
        _trim(engine, settings)
        return report


def _start(supervisor: Supervisor, settings: Settings, engine: Engine, listener: Listener) -> None:
    partitions = engine.log.partitions(topics.OBSERVATIONS)
    if settings.workers > partitions:
        surplus = settings.workers - partitions
        listener.tell(f"{surplus} of {settings.workers} workers will idle: there are {partitions} partitions")
    for number in range(settings.workers):
        supervisor.start(f"worker {number + 1}", "casetape.services.worker", worker_options(settings, bounded=True))
    supervisor.start("merger", "casetape.services.merger", merger_options(settings))


def _drain(engine: Engine, supervisor: Supervisor) -> None:
    """Waits until every partition is concluded up to where the input ends now, and all results are merged and
    published."""
    ends = engine.log.end_offsets(topics.OBSERVATIONS)
    supervisor.until(ends)
    while any(_concluded(engine).get(partition, 0) < end for partition, end in ends.items()):
        supervisor.look_after()
        time.sleep(WAIT_SECONDS)
    while any(lag(engine.log, MERGER, topics.VERSIONS).values()) or engine.store.unpublished(1):
        supervisor.look_after()
        time.sleep(WAIT_SECONDS)


def _trim(engine: Engine, settings: Settings) -> None:
    readers = {topics.OBSERVATIONS: [GROUP], topics.VERSIONS: [MERGER]}
    for topic, days in settings.retention.items():
        if days is not None:
            trim_older(engine.log, topic, now() - round(days * DAY), readers.get(topic, []))


def _concluded(engine: Engine) -> dict[int, int]:
    manifests = engine.store.manifests(f"detect/{GROUP}/{topics.OBSERVATIONS}/")
    return {int(owner.rpartition("/")[2]): counts_of(manifest)[1] for owner, manifest in manifests.items()}


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where everything stood before the run."""

    started: float
    counts: Counts
    backlog: int
    states: dict[int, int]

    @classmethod
    def now(cls, engine: Engine) -> _Mark:
        ends = engine.log.end_offsets(topics.OBSERVATIONS)
        counts = _counts(engine)
        states = dict(engine.log.end_offsets(topics.STATES))
        return cls(time.monotonic(), counts, sum(ends.values()) - counts.consumed, states)


def _counts(engine: Engine) -> Counts:
    total = Counts()
    for partition in range(engine.log.partitions(topics.OBSERVATIONS)):
        manifest = engine.store.manifest(owner_of(GROUP, TopicPartition(topics.OBSERVATIONS, partition)))
        if manifest is not None:
            counts, _ = counts_of(manifest)
            for field in Counts.__struct_fields__:
                setattr(total, field, getattr(total, field) + getattr(counts, field))
    return total


def _report(engine: Engine, before: _Mark, fed: FeedCounts) -> RunReport:
    after = _counts(engine)
    versions, analyses, cases = _committed(engine, before.states)
    seconds = time.monotonic() - before.started
    return RunReport(
        fed=fed.read,
        backlog=before.backlog,
        recorded=after.new - before.counts.new,
        duplicates=fed.already_fed + after.duplicate - before.counts.duplicate,
        quarantined=fed.quarantined + after.quarantined - before.counts.quarantined,
        late=after.late - before.counts.late,
        faults=after.faults - before.counts.faults,
        analyses=analyses,
        versions=versions,
        cases=cases,
        seconds=round(seconds, 3),
        observations_per_second=round((fed.read + before.backlog) / seconds, 1),
    )


def _committed(engine: Engine, since: dict[int, int]) -> tuple[int, int, int]:
    """Versions, analyses and cases that reached `states` since these offsets; repeats count once."""
    seen: set[str] = set()
    cases: set[str] = set()
    analyses = 0
    for partition, start in since.items():
        at = TopicPartition(topics.STATES, partition)
        offset = start
        while records := engine.log.read(at, offset, PAGE):
            for record in records:
                version = StateVersion.parse(record.value)
                if version.id not in seen:
                    seen.add(version.id)
                    cases.add(record.key)
                    analyses += len(version.header.analyses)
            offset = records[-1].offset + 1
    return len(seen), analyses, len(cases)
