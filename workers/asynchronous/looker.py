"""Detectors at work on records, many at a time: each detector with as many calls as its concurrency allows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from schemas.errors import EngineUnavailable
from workers.asynchronous.asking import Asker
from workers.asynchronous.line import Slot
from workers.asynchronous.options import AsyncOptions
from workers.detection.calling import Calling
from workers.detection.guard import Guard
from workers.detection.looking import Looking, Taken, copied
from workers.detection.plugin import CONCURRENCY, Detector


class Overrun(EngineUnavailable):
    """Calls that were given up go on and on, so the process starts anew."""

    code = "overrun"


class Looker:
    """Shows records to whoever wants them. `clock` gives microseconds. Belongs to one event loop."""

    def __init__(self, detectors: Sequence[Detector], options: AsyncOptions, clock: Callable[[], int]) -> None:
        self._detectors, self._options, self._clock = detectors, options, clock
        self._guard = Guard(options.call, calling=Calling(options.calling), suspects=options.suspects)
        self._asker = Asker(self._guard, options.call)
        self._limits = {one.name: asyncio.Semaphore(_concurrency(one)) for one in detectors}
        self._tasks: set[asyncio.Task[None]] = set()
        self.bound = options.bound(sum(map(_concurrency, detectors)))
        """So many records may have been shown without being saved."""

    def wanted(self, slot: Slot) -> Sequence[Detector]:
        """Who wants to look at the record."""
        taken = slot.taken
        return [] if taken is None else [one for one in self._detectors if one.wants(taken.observation.kind)]

    def begin(
        self, slot: Slot, wanted: Sequence[Detector], done: Callable[[], None], failed: Callable[[BaseException], None]
    ) -> None:
        """Begins to show the record to these. Calls `done` when all have answered, `failed` where our own code did."""
        task = asyncio.create_task(self._look(slot, wanted))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                failed(error)
            elif slot.done:
                done()

        task.add_done_callback(ended)

    async def leave(self, grace: float) -> None:
        """Waits for the calls under way, at most so many seconds, and gives up what is left of them."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def _look(self, slot: Slot, detectors: Sequence[Detector]) -> None:
        if slot.taken is not None:
            taken = slot.taken
            await asyncio.gather(*(self._ask(one, taken, slot) for one in detectors))
        slot.done = True

    async def _ask(self, detector: Detector, taken: Taken, slot: Slot) -> None:
        async with self._limits[detector.name]:
            answer = await self._asker.ask(detector, copied(taken))
        looking = Looking(self._clock(), self._guard, self._options.secret)
        looking.answered(detector, taken, answer, slot.outcome, trusted=False)
        if self._asker.overrun:
            raise Overrun(f"detector {detector.name} goes on with calls that were given up: the process starts anew")


def _concurrency(detector: Detector) -> int:
    return int(getattr(detector, "concurrency", CONCURRENCY))
