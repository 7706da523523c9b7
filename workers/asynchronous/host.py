"""The asynchronous host: takes records as they come, has detectors look at many at a time, and has what they say saved
before a record is acknowledged. It knows nothing of Faust.

Memory is bounded by taking no more; repeats after a crash by asking no more. See AsyncOptions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import TypeVar

from engines.engine import Engine
from engines.log import LogRecord, TopicPartition
from schemas.errors import EngineUnavailable, Fenced
from workers.asynchronous.keeper import Keeper
from workers.asynchronous.line import Line, Slot
from workers.asynchronous.looker import Looker
from workers.asynchronous.options import AsyncOptions
from workers.asynchronous.room import Room
from workers.detection.plugin import Detector

T = TypeVar("T")
Rewind = Callable[[TopicPartition, int], Awaitable[None]]
"""Makes the broker's client deliver a partition again from an offset on."""


class AsyncHost:
    """Hosts detectors on whatever records it is offered. `engine` is opened, used and closed in one thread of its own.

    What it cannot go on after ends up in `error`; nothing is acknowledged from then on.
    """

    def __init__(
        self,
        engine: AbstractContextManager[Engine],
        detectors: Sequence[Detector],
        options: AsyncOptions,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self.options = options
        self.finished = 0
        """How many records are saved: it grows while there is progress."""
        self.error: BaseException | None = None
        self._engine, self._detectors, self._clock = engine, list(detectors), clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._stack = ExitStack()
        self._lines: dict[TopicPartition, Line] = {}
        self._generation: int | None = None
        self._came_in: list[tuple[Line, Slot]] = []
        self._failed, self._assigned = asyncio.Event(), asyncio.Event()
        self._came, self._done = asyncio.Event(), asyncio.Event()
        self._saving = asyncio.Lock()
        self._looker = Looker(self._detectors, options, clock)
        self._room, self._ahead = Room(options.records, options.size), Room(self._looker.bound, None)
        self._loops: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Opens the engine, and begins to work. Raises what opening it raises."""
        opened = await self._blocking(lambda: self._stack.enter_context(self._engine))
        self._keeper = Keeper(opened, self._detectors, self.options.group, self.options.secret, self._clock)
        self._loops = [asyncio.create_task(self._watched(one)) for one in (self._taking_in, self._saving_on)]

    async def close(self) -> None:
        """Lets go of everything; what was not handed back before is not saved."""
        for loop in self._loops:
            loop.cancel()
        if self._loops:
            await asyncio.wait(self._loops)
        await self._looker.leave(0)
        await self._blocking(self._stack.close)
        self._thread.shutdown(wait=False)

    @property
    def owned(self) -> Sequence[TopicPartition]:
        """The partitions it has."""
        return list(self._lines)

    @property
    def joined(self) -> bool:
        """Whether it has been told which partitions it has, if only that it has none."""
        return self._generation is not None

    async def waiting(self) -> int:
        """How many records of its partitions are not saved."""
        lines = list(self._lines.values())
        return await self._blocking(lambda: self._keeper.waiting(lines))

    def fail(self, error: BaseException) -> None:
        """Says that it cannot go on."""
        if self.error is None:
            self.error = error
        self._failed.set()

    async def failure(self) -> BaseException | None:
        """Waits until it cannot go on, and returns why."""
        await self._failed.wait()
        return self.error

    async def assigned(self, partitions: Sequence[TopicPartition], generation: int) -> None:
        """It has got these partitions, and no others, in this generation of the group."""
        if self._lines:
            await self.revoked()
        try:
            lines = await self._blocking(lambda: self._keeper.take_over(partitions))
        except Exception as error:  # noqa: BLE001 - Faust would go on; whoever runs the host raises it
            self.fail(_retriable(error))
            return
        self._lines = {line.at: line for line in lines}
        self._generation = generation
        self._assigned.set()

    async def revoked(self) -> None:
        """It is about to lose all its partitions: finishes what it can within the grace, saves it, and forgets them."""
        self._assigned.clear()
        self._generation = None
        lines, self._lines = list(self._lines.values()), {}
        await self._looker.leave(self.options.grace)
        try:
            if self.error is None:
                # where another has them already, what is not saved comes to it again
                with suppress(Fenced):
                    await self._save(lines)
        except Exception as error:  # noqa: BLE001 - Faust would go on; whoever runs the host raises it
            self.fail(_retriable(error))
        self._came_in = []
        self._room.empty()
        self._ahead.empty()

    async def offer(
        self, at: TopicPartition, record: LogRecord, generation: int, ack: Callable[[], object], rewind: Rewind
    ) -> None:
        """Takes a record in as soon as there is room. One of another generation of the group is not for us; one that is
        saved already is acknowledged; one that does not follow on the last makes the client go back."""
        await self._assigned.wait()
        line = self._lines.get(at)
        if line is None or generation != self._generation:
            return
        if record.offset < line.next:
            if record.offset < line.start:
                ack()
            return
        follows = record.offset == line.next or await self._follows(line, record.offset)
        if not follows:
            if self._owns(line):
                await rewind(at, line.next)
            return
        if not await self._room.enter(len(record.value)) or not self._owns(line):
            return
        slot = Slot(record, ack)
        line.add(slot)
        self._came_in.append((line, slot))
        self._came.set()

    def _owns(self, line: Line) -> bool:
        return self._lines.get(line.at) is line

    async def _follows(self, line: Line, offset: int) -> bool:
        try:
            return await self._blocking(lambda: self._keeper.follows(line.at, line.next, offset))
        except Exception as error:  # noqa: BLE001 - Faust would go on; whoever runs the host raises it
            self.fail(_retriable(error))
            return False

    async def _taking_in(self) -> None:
        while True:
            await self._came.wait()
            self._came.clear()
            came, self._came_in = self._came_in, []
            for line in dict.fromkeys(line for line, _ in came):
                slots = [slot for one, slot in came if one is line]
                await self._blocking(lambda line=line, slots=slots: self._keeper.take_in(line, slots))  # type: ignore[misc]  # mypy cannot type a bound default
            for line, slot in came:
                await self._begin(line, slot)

    async def _begin(self, line: Line, slot: Slot) -> None:
        wanted = self._looker.wanted(slot)
        if not wanted:
            slot.done = True
            self._done.set()
            return
        # partitions may go while there is no room: then all of it is forgotten, and comes to their next owner
        if self._owns(line) and await self._ahead.enter(0) and self._owns(line):
            slot.asked = True
            self._looker.begin(slot, wanted, self._done.set, self.fail)

    async def _saving_on(self) -> None:
        while True:
            await self._done.wait()
            self._done.clear()
            await self._save(list(self._lines.values()))
            await asyncio.sleep(self.options.save)

    async def _save(self, lines: Sequence[Line]) -> None:
        async with self._saving:
            finished = [(line, ready) for line in lines if (ready := line.ready())]
            if not finished:
                return
            await self._blocking(lambda: self._keeper.save(finished))
            for line, slots in finished:
                line.drop(len(slots))
                for slot in slots:
                    slot.ack()
                self._room.leave(len(slots), sum(len(slot.record.value) for slot in slots))
                self._ahead.leave(sum(slot.asked for slot in slots), 0)
                self.finished += len(slots)

    async def _watched(self, loop: Callable[[], Awaitable[None]]) -> None:
        try:
            await loop()
        except Exception as error:  # noqa: BLE001 - whoever runs the host raises it
            self.fail(_retriable(error))

    async def _blocking(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def _retriable(error: Exception) -> Exception:
    """A partition that another has taken over is no reason to give up: the process joins again."""
    if isinstance(error, Fenced):
        return EngineUnavailable(f"{error}; this process starts again")
    return error
