"""Child processes and who looks after them: a child that dies is started again, and said so.

A run's supervisor gives up where a child dies again and again: somebody waits for the run's end. A `lasting` one does
not: it starts the child again after a pause that grows, since what killed it may pass while nobody looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from engines.failpoints import VARIABLE
from schemas.errors import CasetapeError, EngineError, StorageFull

STOP_SECONDS = 20.0
RESTARTS = 10
"""A service that dies this often in a row is not started again."""
STEADY_SECONDS = 600.0
"""A service that lived this long died for the first time."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds: a lasting supervisor waits this long before it starts a child for the second time in a row, and twice as
long each time, up to the longest."""


class ChildFailed(EngineError):
    """A service stopped and cannot go on."""

    code = "service_failed"


@dataclass(slots=True)
class Child:
    """One service's process. `said` holds what it wrote, newest last; `started` is on the monotonic clock, `since` in
    seconds since 1970."""

    name: str
    module: str
    options: Mapping[str, Any]
    process: subprocess.Popen[bytes]
    started: float
    since: float = field(default_factory=time.time)
    said: list[dict[str, Any]] = field(default_factory=list)
    reader: threading.Thread | None = None

    def order(self, line: Mapping[str, Any]) -> None:
        """Writes an order to it; one that is dying takes none, and its successor gets it again."""
        stream = self.process.stdin
        try:
            if stream is not None and not stream.closed:
                stream.write(json.dumps(line).encode() + b"\n")
                stream.flush()
        except BrokenPipeError:
            return


class ServiceState(NamedTuple):
    """What is known of a service: its process (None while it waits to be started again), since when (seconds since
    1970), how often it was started again, and why it stopped last."""

    name: str
    pid: int | None
    since: float | None
    restarts: int
    last: str | None


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

    def start(self, name: str, module: str, options: Mapping[str, Any]) -> None:
        """Starts `python -m module` as a child called `name`, with its options as its first line."""
        self._start(name, module, options, dict(os.environ))

    def _start(self, name: str, module: str, options: Mapping[str, Any], environment: dict[str, str]) -> None:
        # in a process group of its own: Ctrl-C at a terminal is for the parent, which then stops its children
        process = subprocess.Popen(  # noqa: S603 - our own module under our own interpreter
            # -P: what lies in the working folder is somebody's data, and no module of ours
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
            process_group=0,
        )
        child = Child(name, module, options, process, started=time.monotonic())
        child.order(options)
        child.reader = threading.Thread(target=_listen, args=(process.stdout, child.said), daemon=True)
        child.reader.start()
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
        for child in [one for one in self._children if one.process.poll() is not None]:
            self._children.remove(child)
            _close(child)
            self._died(child)
        now = time.monotonic()
        for waiting in [one for one in self._waiting if one.at <= now]:
            self._waiting.remove(waiting)
            # a fail point was meant for the first life: a successor that died at the same place would prove nothing
            environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
            self._start(waiting.name, waiting.module, waiting.options, environment)

    def _died(self, child: Child) -> None:
        said = next((line for line in reversed(child.said) if line.get("event") == "error"), None)
        past = self._past.setdefault(child.name, _Past())
        self._give_up(said)
        past.deaths = 1 if time.monotonic() - child.started > STEADY_SECONDS else past.deaths + 1
        how = said["message"] if said is not None else f"exit code {child.process.returncode}"
        if past.deaths > RESTARTS and not self._lasting:
            raise _failure(said) if said is not None else ChildFailed(_hopeless(child.name, past.deaths, how))
        past.restarts, past.last = past.restarts + 1, how
        pause = pause_after(past.deaths) if self._lasting else 0.0
        when = f"it is started again in {pause:g} s" if pause else "it was started again"
        self._tell(f"{child.name} stopped ({how}); {when}")
        self._waiting.append(_Waiting(child.name, child.module, child.options, time.monotonic() + pause))

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

    def pids(self) -> dict[str, int]:
        """By name: the process ids."""
        return {child.name: child.process.pid for child in self._children}

    def stop(self) -> None:
        """Ends every child: by the end of its input, and by a signal where it does not leave."""
        for child in self._children:
            if child.process.stdin is not None:
                _quietly_closed(child.process.stdin)
        for child in self._children:
            try:
                child.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._tell(f"{child.name} did not leave within {STOP_SECONDS:g} s and was killed")
                child.process.kill()
                child.process.wait()
            _close(child)
        self._children, self._waiting = [], []


def _state(name: str, child: Child | None, past: _Past) -> ServiceState:
    pid, since = (None, None) if child is None else (child.process.pid, child.since)
    return ServiceState(name, pid, since, past.restarts, past.last)


def pause_after(deaths: int) -> float:
    """Seconds before a service that died so often in a row is started again: none after the first time."""
    return 0.0 if deaths <= 1 else min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (deaths - 2))


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


def _listen(stream: IO[bytes] | None, said: list[dict[str, Any]]) -> None:
    if stream is None:
        return
    said.extend(json.loads(line) for line in stream)


def _close(child: Child) -> None:
    if child.reader is not None:
        child.reader.join(STOP_SECONDS)
    for stream in (child.process.stdin, child.process.stdout):
        if stream is not None:
            _quietly_closed(stream)


def _quietly_closed(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        return
