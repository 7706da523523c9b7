"""One kind of service by itself, for many machines: its processes are kept up until they are told to stop, and asked
how they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from casetape.health import Health, told
from casetape.housekeeping import keeping_house
from casetape.lagging import Position, positions_of
from casetape.opening import check_topics, working
from casetape.progress import Progress, looking
from casetape.services.starting import Tell
from casetape.settings import Settings
from casetape.watching import Watch
from engines.engine import Engine
from engines.log import TopicPartition
from schemas.errors import CasetapeError, UsageError
from workers.runtime.supervisor import ServiceState, Supervisor

LOOK_SECONDS = 0.1
ALIVE_SECONDS = 60.0
"""A process whose own loop has not gone round for so long is not alive."""
UNSEEN_SECONDS = 10.0
"""Where progress could not be looked at for so long, nobody knows of any."""
IDLE_SECONDS = 10.0
"""A process that has had no partition for so long is told of: at its start, it has none yet."""


@dataclass(frozen=True, slots=True)
class Lone:
    """What is run: `count` processes of a module, which read `topic` in `group`. `opened` is called with the engine
    before they start. `keeps_house`: whether what is no longer to be kept is let go of beside them."""

    name: str
    module: str
    options: Mapping[str, Any]
    count: int
    group: str
    topic: str
    opened: Callable[[Engine], None] = lambda engine: None
    keeps_house: bool = False


def serve_alone(
    settings: Settings, lone: Lone, tell: Tell, *, on_ready: Callable[[str | None], None], stopped: Callable[[], bool]
) -> int:
    """Keeps the processes up until `stopped`. `on_ready` is called with the address of the health endpoint once all are
    at work. Returns how often one was started again. Raises UsageError for the embedded engine, what `working` and
    `check_topics` raise, and what a process says that makes it useless to start it again."""
    if settings.engine == "embedded":
        raise UsageError(
            f"`casetape {lone.name}` is for the cluster engine (setting `engine`): on one machine `casetape up` keeps"
            " all services up"
        )
    with ExitStack() as stack:
        engine = stack.enter_context(working(settings))
        check_topics(engine, settings)
        lone.opened(engine)
        _tell_what_is_gone(engine, lone, tell)
        supervisor = Supervisor(tell, lasting=True)
        stack.callback(supervisor.stop)
        progress = stack.enter_context(looking(engine, lone.group, lone.topic))
        if lone.keeps_house:
            stack.enter_context(keeping_house(settings, tell))
        host = _Host(supervisor, tell, progress, Watch(settings.stuck))
        address = stack.enter_context(told(settings.health, host.health))
        for number in range(lone.count):
            supervisor.start(f"{lone.name} {number + 1}", lone.module, lone.options)
        ready = False
        while not stopped():
            supervisor.look_after()
            host.look()
            if not ready and supervisor.ready():
                ready = True
                on_ready(address)
            time.sleep(LOOK_SECONDS)
        return sum(one.restarts for one in supervisor.services())


def _tell_what_is_gone(engine: Engine, lone: Lone, tell: Tell) -> None:
    """Records that the group was to handle and that are no longer there: nobody can tell later, for the group goes on
    behind them."""
    missed = [one for one in positions_of(engine, lone.group, lone.topic) if one.committed and one.done < one.start]
    if missed:
        count = sum(one.start - one.done for one in missed)
        where = ", ".join(f"{one.at.partition}" for one in missed)
        tell(
            f"{count:,} records of `{lone.topic}` were deleted before {lone.group} had handled them (partitions"
            f" {where}): it goes on behind them; raise their retention"
        )


@dataclass
class _Host:
    """How the processes do, as of the last look. The look is the main loop's, the question the endpoint's thread's:
    what it reads is replaced, never changed."""

    supervisor: Supervisor
    tell: Tell
    progress: Progress
    watch: Watch
    _services: Sequence[ServiceState] = ()
    _partitions: Sequence[Mapping[str, Any]] = ()
    _stuck: Sequence[str] = ()
    _ready: bool = False
    _trouble: str | None = None
    _idle: dict[str, float] = field(default_factory=dict)
    _seen: float = 0.0
    _looked: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        """Takes in how the processes do, and how far they are. Raises what the looking at that has come upon, where
        trying again is of no use."""
        self._looked = time.monotonic()
        self._services, self._ready = self.supervisor.services(), self.supervisor.ready()
        self._say_who_idles()
        seen = self.progress.seen
        if isinstance(seen.trouble, CasetapeError) and not seen.trouble.retriable:
            raise seen.trouble
        trouble = None if seen.trouble is None else str(seen.trouble)
        if trouble is not None and trouble != self._trouble:
            self.tell(f"{trouble} Trying again")
        self._trouble = trouble
        if seen.at != self._seen:
            self._seen = seen.at
            self._take(seen.positions)

    def health(self) -> Health:
        """For the endpoint."""
        services, now = self._services, time.monotonic()
        why = [f"{one.name} is down ({one.last})" for one in services if one.pid is None]
        silent = [one for one in services if one.silent > self.watch.limit]
        why += [f"{one.name} has given no sign of life for {one.silent:.0f} s" for one in silent]
        why += self._stuck
        why += [] if self._trouble is None else [self._trouble]
        unseen = now - self.progress.seen.at
        if unseen > UNSEEN_SECONDS:
            why.append(f"its progress could not be looked at for {unseen:.0f} s")
        if not self._ready:
            why.append("it is starting")
        alive = now - self._looked < ALIVE_SECONDS
        detail = {"services": [_service(one) for one in services], "partitions": list(self._partitions)}
        return Health(alive, alive and not why, tuple(why), detail)

    def _take(self, found: Sequence[Position]) -> None:
        owned = frozenset[TopicPartition]().union(*(one.owned or () for one in self._services))
        mine = [one for one in found if one.at in owned]
        stuck = self.watch.look(self._seen, mine)
        words = [
            f"{one.group} makes no progress on {one.at.topic}[{one.at.partition}] for {one.seconds:.0f} s,"
            f" while {one.waiting:,} records wait"
            for one in stuck
        ]
        for sentence in words if not self._stuck else ():
            self.tell(sentence)
        self._stuck = words
        self._partitions = [
            {"topic": one.at.topic, "partition": one.at.partition, "done": one.done, "waiting": one.waiting}
            for one in mine
        ]

    def _say_who_idles(self) -> None:
        idle = {one.name for one in self._services if one.owned is not None and not one.owned}
        self._idle = {name: self._idle.get(name, self._looked) for name in idle}
        for name, since in self._idle.items():
            # told once: then it counts as told of from the beginning of time
            if since and self._looked - since > IDLE_SECONDS:
                self.tell(f"{name} has no partition: it waits, and takes over where another leaves")
                self._idle[name] = 0.0


def _service(one: ServiceState) -> dict[str, Any]:
    owned = [f"{at.topic}[{at.partition}]" for at in sorted(one.owned or ())]
    return {"name": one.name, "pid": one.pid, "restarts": one.restarts, "last": one.last, "partitions": owned}
