"""Notices that nothing is finished though records wait: Faust, or a thread, can be alive and do nothing for ever.

It looks from a thread of its own, since what hangs may be the event loop.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Protocol

from schemas.errors import EngineUnavailable
from workers.asynchronous.options import AsyncOptions

LOOK_SECONDS = 1.0
CALLS = 2.0
"""A detector may take its time: a process counts as stuck after no less than so many times a call."""


class Stuck(EngineUnavailable):
    """Records wait, and nothing was finished for too long: the process ends itself, to be started again."""

    code = "stuck"


class Watched(Protocol):
    """What is watched: the host."""

    options: AsyncOptions
    finished: int

    @property
    def joined(self) -> bool:
        """Whether it knows which partitions it has."""
        ...

    async def waiting(self) -> int:
        """How many records wait."""
        ...


class Watchdog:
    """Calls `on_stuck`, in its own thread and once, when all was well for the last time too long ago."""

    def __init__(self, host: Watched, on_stuck: Callable[[Stuck], None]) -> None:
        self._host, self._on_stuck = host, on_stuck
        self.limit = max(host.options.stuck, CALLS * host.options.call)
        self._well = time.monotonic()
        self._waiting: int | None = None
        self._stop = threading.Event()

    def start(self) -> None:
        """Begins to watch."""
        self._well = time.monotonic()
        threading.Thread(target=self._watch, daemon=True, name="watchdog").start()

    def stop(self) -> None:
        """Ends it."""
        self._stop.set()

    async def look(self) -> None:
        """Looks again and again, in the host's event loop: all is well where nothing waits, or something was finished
        since the last look."""
        finished = -1
        while True:
            if self._host.joined:
                self._waiting = await self._host.waiting()
                if not self._waiting or self._host.finished != finished:
                    self._well = time.monotonic()
                finished = self._host.finished
            await asyncio.sleep(min(LOOK_SECONDS, self.limit / 4))

    def _watch(self) -> None:
        while not self._stop.wait(min(LOOK_SECONDS, self.limit / 4)):
            silent = time.monotonic() - self._well
            if silent > self.limit:
                self._on_stuck(Stuck(self._said(silent)))
                return

    def _said(self, seconds: float) -> str:
        group = self._host.options.group
        if self._waiting is None:
            return f"{group} was not told for {seconds:.0f} s which partitions it has; the process ends itself"
        waits = f"while {self._waiting:,} records wait" if self._waiting else "and does not answer"
        return f"{group} has finished nothing for {seconds:.0f} s, {waits}; the process ends itself"
