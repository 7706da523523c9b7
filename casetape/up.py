"""`casetape up`: all services of one machine, kept up until they are told to stop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from casetape import standing
from casetape.counting import counts_in
from casetape.keeping import keep
from casetape.lagging import positions
from casetape.opening import ready_topics, working
from casetape.run import now
from casetape.services.options import feeder_options
from casetape.services.starting import Tell, say_what_is_new, start, wanted
from casetape.settings import Settings
from casetape.standing import ServiceStanding, Standing, StuckStanding
from casetape.turn import UP, HomeLost, identity, turn
from casetape.watching import Stuck, Watch
from engines import topics
from engines.engine import Engine
from merge.policies.registry import Registry, policies
from schemas.errors import CasetapeError, EngineUnavailable, UsageError
from schemas.scales import SECOND
from workers.detection.snapshot import Counts
from workers.feed.options import FeedOptions
from workers.feed.plan import STDIN
from workers.runtime.supervisor import ServiceState, Supervisor

LOOK_SECONDS = 0.1
STANDING_SECONDS = 2.0
WATCH_SECONDS = 5.0
KEEPING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class UpReport:
    """What the services did while they were up. `fed`: lines that the feeder read, what a crash made it read again too.
    consumed = new + duplicates + quarantined records, of which `late` and `untimed` as in a run; failures of plug-ins;
    versions that reached `states` (a repeat after a crash counts again); how often a service was started again."""

    fed: int
    consumed: int
    new: int
    duplicates: int
    quarantined: int
    late: int
    untimed: int
    faults: int
    versions: int
    restarts: int
    seconds: float

    def to_json(self) -> dict[str, int | float]:
        """As `--json` prints it."""
        return asdict(self)


def up(
    settings: Settings,
    follows: Sequence[str],
    options: FeedOptions,
    tell: Tell,
    *,
    on_start: Callable[[], None],
    on_ready: Callable[[], None],
    stopped: Callable[[], bool],
) -> UpReport:
    """Keeps feeder, workers and merger up until `stopped`; `follows` are files and folders to keep reading.
    `on_start` is called once nothing speaks against it, `on_ready` once all services are at work.

    Raises UsageError for what cannot be followed, HomeBusy where another `up` serves the home, SettingsError and
    PluginError before anything starts, HomeLost, and what a service says that makes it useless to start it again.
    """
    if STDIN in follows:
        raise UsageError("the standard input cannot be followed: `casetape feed -` feeds it, while `casetape up` is up")
    detectors = wanted(settings, tell, tell)
    policies(Registry.installed(), settings.policy_choice())
    with ExitStack() as stack:
        engine = stack.enter_context(working(settings))
        stack.enter_context(turn(settings.home, tell, UP, stopped))
        ready_topics(engine, settings)
        on_start()
        say_what_is_new(engine, detectors, tell)
        before = counts_in(engine), sum(engine.log.end_offsets(topics.STATES).values())
        supervisor = Supervisor(tell, lasting=True)
        stack.callback(supervisor.stop)
        house = _House(settings, engine, supervisor, tell, list(follows))
        start(supervisor, settings, engine, tell, bounded=False)
        if follows:
            supervisor.start("feeder", "casetape.services.feeder", feeder_options(settings, follows, options))
        _serve(house, on_ready, stopped)
        restarts = sum(one.restarts for one in supervisor.services())
        supervisor.stop()
        house.keep()
        standing.write(engine.store, None)
        fed = supervisor.counts().get("read", 0)
        return _report(engine, *before, fed, restarts, time.monotonic() - house.started)


def _serve(house: _House, on_ready: Callable[[], None], stopped: Callable[[], bool]) -> None:
    ready = False
    while not stopped():
        house.supervisor.look_after()
        if not ready and house.supervisor.ready():
            ready = True
            on_ready()
        house.work()
        time.sleep(LOOK_SECONDS)


@dataclass
class _House:
    """What is done beside the services, each when it is due."""

    settings: Settings
    engine: Engine
    supervisor: Supervisor
    tell: Tell
    follows: Sequence[str]
    started: float = field(default_factory=time.monotonic)
    since: int = field(default_factory=now)
    _due: dict[str, float] = field(default_factory=dict)
    _watch: Watch = field(init=False)
    _stuck: Sequence[Stuck] = ()
    _trouble: str | None = None
    _held: tuple[str, ...] = ()
    _identity: object = None

    def __post_init__(self) -> None:
        self._identity = identity(self.settings.home)
        self._watch = Watch(self.settings.stuck)

    def work(self) -> None:
        """Does what is due. Where the engine does not answer, says so once and tries again later. Raises HomeLost."""
        if self._is_due("home", STANDING_SECONDS) and identity(self.settings.home) != self._identity:
            raise HomeLost(
                f"{self.settings.home} was removed or replaced while `casetape up` was at work on it: what is done now"
                " nobody would see. Put it back, and start again"
            )
        try:
            if self._is_due("watch", WATCH_SECONDS):
                self._look()
            if self._is_due("keeping", KEEPING_SECONDS):
                self.keep()
            if self._is_due("standing", STANDING_SECONDS):
                standing.write(self.engine.store, self._standing())
        except EngineUnavailable as error:
            self._say(error)
            return
        self._trouble = None

    def keep(self) -> None:
        """Lets go of what is no longer to be kept; says once what has to stay though it is beyond its bounds."""
        kept = keep(self.engine, self.settings, now())
        for sentence in kept.held:
            if sentence not in self._held:
                self.tell(sentence)
        self._held = kept.held
        if kept.more:
            self._due["keeping"] = 0.0

    def _is_due(self, what: str, seconds: float) -> bool:
        moment = time.monotonic()
        if moment < self._due.get(what, 0.0):
            return False
        self._due[what] = moment + seconds
        return True

    def _look(self) -> None:
        stuck = self._watch.look(time.monotonic(), positions(self.engine))
        known = {(one.group, one.at) for one in self._stuck}
        for one in stuck:
            if (one.group, one.at) not in known:
                self.tell(
                    f"{one.group} makes no progress on {one.at.topic}[{one.at.partition}] for {one.seconds:.0f} s,"
                    f" while {one.waiting:,} records wait: see `casetape status`"
                )
        self._stuck = stuck

    def _say(self, error: CasetapeError) -> None:
        if str(error) != self._trouble:
            self._trouble = str(error)
            self.tell(f"{error} Trying again")

    def _standing(self) -> Standing:
        return Standing(
            pid=os.getpid(),
            since=self.since,
            at=now(),
            follows=self.follows,
            services=[_service(one) for one in self.supervisor.services()],
            stuck=[
                StuckStanding(one.group, one.at.topic, one.at.partition, one.waiting, round(one.seconds, 1))
                for one in self._stuck
            ],
            trouble=self._trouble,
        )


def _service(state: ServiceState) -> ServiceStanding:
    since = None if state.since is None else round(state.since * SECOND)
    return ServiceStanding(state.name, state.pid, since, state.restarts, state.last)


def _report(engine: Engine, before: Counts, states: int, fed: int, restarts: int, seconds: float) -> UpReport:
    after = counts_in(engine)
    return UpReport(
        fed=fed,
        consumed=after.consumed - before.consumed,
        new=after.new - before.new,
        duplicates=after.duplicate - before.duplicate,
        quarantined=after.quarantined - before.quarantined,
        late=after.late - before.late,
        untimed=after.untimed - before.untimed,
        faults=after.faults - before.faults,
        versions=sum(engine.log.end_offsets(topics.STATES).values()) - states,
        restarts=restarts,
        seconds=round(seconds, 3),
    )
