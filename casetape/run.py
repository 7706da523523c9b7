"""`casetape run`: feed, detect in N processes, merge, stop when everything has been read and concluded."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from casetape.counting import counts_in
from casetape.keeping import keep
from casetape.opening import ready_topics, working
from casetape.services.starting import GROUP, MANIFESTS, say_what_is_new, start, unlooked, wanted
from casetape.settings import Settings
from casetape.turn import alone, turn
from engines import topics
from engines.engine import Engine
from engines.log import TopicPartition, lag
from merge.policies.registry import Registry, policies
from merge.tape import MERGER
from schemas.version import StateVersion
from workers.detection.snapshot import Counts, body_of
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import plan
from workers.feed.telling import timeless
from workers.runtime.supervisor import Supervisor

WAIT_SECONDS = {"embedded": 0.02, "cluster": 0.1}
"""Between two looks at how far everybody is: of servers each costs some milliseconds."""
KEEPING_SECONDS = 60.0
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did. fed + backlog = recorded + duplicates + quarantined: `fed` records were read, `backlog` lay on
    the tape already and had not been looked at; `recorded` are new on the tape. Of those, `late` came after their
    case's windows had closed, `untimed` have no time that can be used. `faults` are failures of plug-ins."""

    fed: int
    backlog: int
    recorded: int
    duplicates: int
    quarantined: int
    late: int
    untimed: int
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
    `tell` gets sentences, `refuse` those about plug-ins that were refused."""

    progress: Callable[[int, int | None, FeedCounts], None]
    tell: Callable[[str], None]
    refuse: Callable[[str], None]


def run(
    settings: Settings,
    paths: Sequence[str],
    options: FeedOptions,
    listener: Listener,
    *,
    replay: bool = False,
    take: Callable[[Path, Callable[[str], None]], AbstractContextManager[None]] = turn,
) -> RunReport:
    """Feeds the paths and works off everything on the tape; with `replay` also what it still has of before, for the
    sake of detectors that are new. `take` is how it takes its turn on the home. Raises UsageError before anything is
    written, and whatever `take`, the services and engines raise."""
    planned = plan(paths, options)
    for left in planned.skipped:
        listener.tell(f"left out: {left.path}: {left.reason}")
    detectors = wanted(settings, listener.tell, listener.refuse)
    policies(Registry.installed(), settings.policy_choice())
    with ExitStack() as stack:
        engine = stack.enter_context(working(settings))
        stack.enter_context(take(settings.home, listener.tell))
        ready_topics(engine, settings)
        if settings.engine == "cluster":
            alone(engine.log, GROUP, settings.session, listener.tell)
        before = _Mark.now(engine)
        if replay and engine.log.start_offsets(topics.OBSERVATIONS) == engine.log.end_offsets(topics.OBSERVATIONS):
            listener.tell("there is nothing left on the tape to replay")
        supervisor = Supervisor(listener.tell)
        stack.callback(supervisor.stop)
        if not replay:
            say_what_is_new(engine, detectors, listener.tell)
        name = uuid.uuid4().hex if replay else None
        start(supervisor, settings, engine, listener.tell, bounded=True, replay=name)

        def progress(done: int, size: int | None, counts: FeedCounts) -> None:
            supervisor.look_after()
            listener.progress(done, size, counts)

        feeder = Feeder(engine.log, engine.store, options, now, on_progress=progress)
        fed = FeedCounts()
        for one in planned.files:
            counts = feeder.feed_planned(one)
            fed += counts
            if (said := timeless(one.path, counts)) is not None:
                listener.tell(said)
        if (said := unlooked(feeder.kinds, detectors)) is not None:
            listener.tell(said)
        _drain(engine, supervisor, name, WAIT_SECONDS[settings.engine])
        report = _report(engine, before, fed)
        # what a service has saved it commits at the latest when it leaves, and only what is committed may be trimmed
        supervisor.stop()
        _keep(engine, settings, listener.tell)
        return report


def _drain(engine: Engine, supervisor: Supervisor, replay: str | None, pause: float) -> None:
    """Waits until every partition is concluded up to where the input ends now, and all results are merged and
    published."""
    ends = engine.log.end_offsets(topics.OBSERVATIONS)
    supervisor.until(ends)
    while not _reached(_concluded(engine, replay), ends):
        supervisor.look_after()
        time.sleep(pause)
    while any(lag(engine.log, MERGER, topics.VERSIONS).values()) or engine.store.unpublished(1):
        supervisor.look_after()
        time.sleep(pause)


def _keep(engine: Engine, settings: Settings, tell: Callable[[str], None]) -> None:
    """Until there is nothing left to do, or it has taken long enough: the next run goes on with it."""
    until = time.monotonic() + KEEPING_SECONDS
    while (kept := keep(engine, settings, now())).more and time.monotonic() < until:
        continue
    for sentence in kept.held:
        tell(sentence)


def _reached(concluded: Mapping[int, int], ends: Mapping[int, int]) -> bool:
    return all(concluded.get(partition, 0) >= end for partition, end in ends.items())


def _concluded(engine: Engine, replay: str | None) -> dict[int, int]:
    """By partition: up to where it is concluded; in a replay only by owners that have begun it."""
    manifests = engine.store.manifests(MANIFESTS)
    bodies = {int(owner.rpartition("/")[2]): body_of(manifest) for owner, manifest in manifests.items()}
    return {partition: body.concluded for partition, body in bodies.items() if replay in (None, body.replay)}


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
        counts = counts_in(engine)
        states = dict(engine.log.end_offsets(topics.STATES))
        return cls(time.monotonic(), counts, sum(ends.values()) - counts.consumed, states)


def _report(engine: Engine, before: _Mark, fed: FeedCounts) -> RunReport:
    after = counts_in(engine)
    versions, analyses, cases = _committed(engine, before.states)
    seconds = time.monotonic() - before.started
    return RunReport(
        fed=fed.read,
        backlog=before.backlog,
        recorded=after.new - before.counts.new,
        duplicates=fed.already_fed + after.duplicate - before.counts.duplicate,
        quarantined=fed.quarantined + after.quarantined - before.counts.quarantined,
        late=after.late - before.counts.late,
        untimed=after.untimed - before.counts.untimed,
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
    for partition, offset in since.items():
        at = TopicPartition(topics.STATES, partition)
        while records := engine.log.read(at, offset, PAGE):
            for record in records:
                version = StateVersion.parse(record.value)
                if version.id not in seen:
                    seen.add(version.id)
                    cases.add(record.key)
                    analyses += len(version.header.analyses)
            offset = records[-1].offset + 1
    return len(seen), analyses, len(cases)
