"""One question to an asynchronous detector: its answer, or how it failed to give one (I9)."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from schemas.errors import PluginError
from schemas.observation import Observation
from workers.asynchronous.steps import Steps
from workers.detection.calling import Call
from workers.detection.guard import HUNG, Fault, Guard
from workers.detection.plugin import Answer, Detector

TIDY_SECONDS = 1.0
"""A call that is given up has so long to tidy up, before it is dropped."""
PARTS = 20
STRAYS_MOST = 100
"""So many dropped calls may linger (they wait for something that cannot be cancelled)."""


class Asker:
    """Asks detectors. Each answer is waited for at most `seconds`."""

    def __init__(self, guard: Guard, seconds: float) -> None:
        self._guard, self._seconds = guard, seconds
        self._strays: set[asyncio.Task[Any]] = set()

    @property
    def overrun(self) -> bool:
        """Whether so many dropped calls linger that their process had better begin anew."""
        return len(self._strays) > STRAYS_MOST

    async def ask(self, detector: Detector, observation: Observation) -> Answer | Fault:
        """What the detector says about an observation, which is its own copy. Raises CancelledError where the asking
        task is cancelled."""
        call = Call(detector.name, observation.id)
        begun: object = self._guard.call(lambda: detector.detect(observation), call)
        if isinstance(begun, Fault):
            return begun
        if not inspect.iscoroutine(begun):
            return Fault(PluginError.code, f"detect returned {type(begun).__name__} where an awaitable was due")
        task = asyncio.create_task(Steps[Answer](begun, self._guard, call).run())
        try:
            # in parts: another detector that blocks the event loop takes no more than one of them from this call
            for _ in range(PARTS):
                if not task.done():
                    await asyncio.wait({task}, timeout=self._seconds / PARTS)
        except asyncio.CancelledError:
            await self._give_up(task)
            raise
        if not task.done():
            await self._give_up(task)
            return Fault(HUNG, f"did not answer within {self._seconds:g} s")
        if task.cancelled():
            return Fault(PluginError.code, "was cancelled by itself")
        return task.result()

    async def _give_up(self, task: asyncio.Task[Any]) -> None:
        for _ in range(2):
            task.cancel()
            await asyncio.wait({task}, timeout=TIDY_SECONDS)
            if task.done():
                return
        self._strays.add(task)
        task.add_done_callback(self._strays.discard)
