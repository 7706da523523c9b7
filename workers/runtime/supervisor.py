"""Child processes and who looks after them: a child that dies is started again, and said so.

A run's supervisor gives up where a child dies again and again: somebody waits for the run's end. A `lasting` one does
not: it starts the child again after a pause that grows, since what killed it may pass while nobody looks."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from engines.failpoints import VARIABLE
from engines.log import TopicPartition
from schemas.errors import CasetapeError, EngineError, StorageFull
from workers.detection.calling import BATCH, DEATHS, Call, Deaths, underway
from workers.detection.guard import CALL_SECONDS
from workers.runtime.process import STOP_SECONDS, Child

RESTARTS = 10
"""A service that dies this often in a row is not started again."""
FATAL_MOST = 100
"""So many deaths that plug-ins caused are put up with; further ones count as the service's own."""
FROZEN_TIMES = 6
"""A call into a plug-in that was not interrupted after so many times what a call may take does not run in Python: its
process is ended."""
STEADY_SECONDS = 600.0
"""A service that lived this long died for the first time."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds: a lasting supervisor waits this long before it starts a child for the second time in a row, and twice as
long each time, up to the longest."""


class ChildFailed(EngineError):
    """A service stopped and cannot go on."""

    code = "service_failed"


class ServiceState(NamedTuple):
    """What is known of a service: its process (None while it waits to be started again), since when (seconds since
    1970), how often it was started again, why it stopped last, which partitions it has
    (None: it has not said yet), and for how many seconds it has
    given no sign of life."""

    name: str
    pid: int | None
    since: float | None
    restarts: int
    last: str | None
    owned: frozenset[TopicPartition] | None
    silent: float


@dataclass(slots=True)
class _Past:
    """What became of a service's earlier processes: deaths in a row, all restarts, why it stopped last."""

    deaths: int = 0
    restarts: int = 0
    last: str | None = None


class _Waiting(NamedTuple):
    """A service that is started again at `at` (monotonic seconds)."""

    name: str
    module: str
    options: Mapping[str, Any]
    at: float


class Supervisor:
    """Starts services and keeps them up until `stop`. `tell` gets a sentence whenever one was started again. `lasting`:
    one that keeps dying is not given up."""

    def __init__(self, tell: Callable[[str], None], *, lasting: bool = False) -> None:
        self._tell = tell
        self._lasting = lasting
        self._children: list[Child] = []
        self._waiting: list[_Waiting] = []
        self._until: Mapping[int, int] | None = None
        self._past: dict[str, _Past] = {}
        self._deaths = Deaths()
        self._folder = tempfile.TemporaryDirectory(prefix="casetape-")
        self._number = itertools.count()
        self._counts: Counter[str] = Counter()

    def start(self, name: str, module: str, options: Mapping[str, Any]) -> None:
        """Starts `python -m module` as a child called `name`, with its options as its first line."""
        self._start(name, module, options, dict(os.environ))

    def _start(self, name: str, module: str, options: Mapping[str, Any], environment: dict[str, str]) -> None:
        calling = Path(self._folder.name) / str(next(self._number))
        child = Child.start(name, module, options, calling, environment)
        child.order({**options, "calling": str(calling), "suspects": self._deaths.suspects()})
        if self._until is not None:
            child.order(_until(self._until))
        self._children.append(child)

    def until(self, ends: Mapping[int, int]) -> None:
        """Tells every child, and every later one, where the input ends."""
        self._until = ends
        for child in self._children:
            child.order(_until(ends))

    def look_after(self) -> None:
        """Starts again what has died. Raises ChildFailed where a child said that it cannot go on, or (not of a lasting
        supervisor) died too often."""
        for child in self._children:
            self._pass_on(child)
            self._thaw(child)
        for child in [one for one in self._children if one.ended]:
            self._children.remove(child)
            found = underway(child.calling)
            child.close()
            self._pass_on(child)
            self._count_in(child)
            if found is not None and child.error is None:
                self._remember(found.call)
            self._died(child, in_plugin=found is not None and self._deaths.total <= FATAL_MOST)
        now = time.monotonic()
        for waiting in [one for one in self._waiting if one.at <= now]:
            self._waiting.remove(waiting)
            # a fail point was meant for the first life: a successor that died at the same place would prove nothing
            environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
            self._start(waiting.name, waiting.module, waiting.options, environment)

    def _died(self, child: Child, *, in_plugin: bool) -> None:
        """A death that a plug-in caused does not count as one of the service's own: the call will not be made again."""
        said = child.error
        past = self._past.setdefault(child.name, _Past())
        self._give_up(said)
        steady = time.monotonic() - child.started > STEADY_SECONDS
        past.deaths = 0 if in_plugin else 1 if steady else past.deaths + 1
        how = said["message"] if said is not None else f"exit code {child.process.returncode}"
        if past.deaths > RESTARTS and not self._lasting:
            raise _failure(said) if said is not None else ChildFailed(_hopeless(child.name, past.deaths, how))
        past.restarts, past.last = past.restarts + 1, how
        pause = pause_after(past.deaths) if self._lasting else 0.0
        when = f"it is started again in {pause:g} s" if pause else "it was started again"
        self._tell(f"{child.name} stopped ({how}); {when}")
        self._waiting.append(_Waiting(child.name, child.module, child.options, time.monotonic() + pause))

    def _pass_on(self, child: Child) -> None:
        while child.sentences:
            self._tell(f"{child.name}: {child.sentences.popleft()}")

    def _thaw(self, child: Child) -> None:
        """Ends a process that is frozen inside a plug-in."""
        found = underway(child.calling)
        limit = FROZEN_TIMES * float(child.options.get("call", CALL_SECONDS))
        if found is not None and time.monotonic() - found.began > limit and not child.ended:
            self._tell(f"{child.name} is frozen inside detector {found.call.detector}, and is ended")
            child.kill()

    def _remember(self, call: Call) -> None:
        """Counts a death against the plug-in that was being called, and tells all children what not to call again."""
        self._deaths.count(call)
        suspects = self._deaths.suspects()
        if call not in suspects:
            return
        if call.about != BATCH:
            self._tell(
                f"detector {call.detector} ended its process {DEATHS} times in one call, which is not made again"
            )
        for one in self._children:
            one.order({"suspects": suspects})

    def _give_up(self, said: Mapping[str, Any] | None) -> None:
        """Raises what a child said where it makes no sense to start it again: where it said so itself; and where there
        is no room, unless somebody may make room while we wait."""
        if said is not None and (not said["retriable"] or (said["code"] == StorageFull.code and not self._lasting)):
            raise _failure(said)

    def services(self) -> list[ServiceState]:
        """What is known of each service, by name."""
        living = {one.name: one for one in self._children}
        names = sorted({*living, *(one.name for one in self._waiting)})
        return [_state(name, living.get(name), self._past.get(name, _Past())) for name in names]

    def ready(self) -> bool:
        """Whether every service is up and has said that it is at work."""
        return not self._waiting and all(
            any(said.get("event") == "ready" for said in one.said) for one in self._children
        )

    def counts(self) -> dict[str, int]:
        """The sums of what all its children have counted, those that are gone too."""
        return dict(sum((Counter(one.counts) for one in self._children), self._counts))

    def _count_in(self, child: Child) -> None:
        self._counts.update(child.counts)

    def pids(self) -> dict[str, int]:
        """By name: the process ids."""
        return {child.name: child.process.pid for child in self._children}

    def stop(self) -> None:
        """Ends every child: by the end of its input, and by a signal where it does not leave."""
        for child in self._children:
            child.hang_up()
        for child in self._children:
            if not child.left():
                self._tell(f"{child.name} did not leave within {STOP_SECONDS:g} s and was killed")
            child.close()
            self._pass_on(child)
            self._count_in(child)
        self._children, self._waiting = [], []
        self._folder.cleanup()


def _state(name: str, child: Child | None, past: _Past) -> ServiceState:
    if child is None:
        return ServiceState(name, None, None, past.restarts, past.last, None, 0.0)
    silent = time.monotonic() - child.pulse
    return ServiceState(name, child.process.pid, child.since, past.restarts, past.last, child.owned, silent)


def pause_after(deaths: int) -> float:
    """Seconds before a service that died so often in a row is started again: none after the first time."""
    return 0.0 if deaths <= 1 else min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(deaths - 2, 16))


def _hopeless(name: str, count: int, how: str) -> str:
    return (
        f"{name} died {count} times in a row ({how}). What ends its process from inside (a plug-in that crashes in a C"
        " library, or calls os._exit) does so again at the same record: run without --plugins, or with --detectors"
    )


def _until(ends: Mapping[int, int]) -> dict[str, Any]:
    return {"until": {str(partition): offset for partition, offset in ends.items()}}


def _failure(said: Mapping[str, Any]) -> CasetapeError:
    """The child's own error, with its code, so that the parent reports it as its own."""
    error = ChildFailed(said["message"])
    error.code = said["code"]  # type: ignore[misc]  # the class's code is the default; this one is the child's
    return error
