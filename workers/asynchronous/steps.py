"""A plug-in's coroutine, run one step at a time under the guard that plug-ins without `async` run under.

Each step (from one `await` to the next) is a call that is noted, interrupted where it blocks the event loop for too
long, and not made where processes died in it (I9). A coroutine that was cancelled and goes on regardless is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from workers.detection.calling import Call
from workers.detection.guard import Fault, Guard

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    """The coroutine returned this."""

    value: T


@dataclass(frozen=True, slots=True)
class _Waits:
    """The coroutine waits for this."""

    future: Any


@dataclass(frozen=True, slots=True)
class _Cancelled:
    """The coroutine ended by a cancellation."""


class Steps(Generic[T]):
    """Awaits a coroutine under the guard. Cancelled once, the coroutine may still tidy up; cancelled twice, it is
    dropped, whatever it does."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], guard: Guard, call: Call) -> None:
        self._coroutine, self._guard, self._call = coroutine, guard, call

    async def run(self) -> T | Fault:
        """What the coroutine returns, or how it failed. Raises CancelledError where it ended by that."""
        return await self

    def __await__(self) -> Generator[Any, Any, T | Fault]:
        cancelled = False
        step: Callable[[], Any] = partial(self._coroutine.send, None)
        try:
            while True:
                said = self._guard.call(partial(_taken, step), self._call)
                if isinstance(said, Fault):
                    return said
                if isinstance(said, _Ended):
                    # the type of a generic dataclass's field is lost in the union above
                    value: T = said.value
                    return value
                if isinstance(said, _Cancelled):
                    raise asyncio.CancelledError
                try:
                    step = partial(self._coroutine.send, (yield said.future))
                except asyncio.CancelledError as error:
                    if cancelled:
                        raise
                    cancelled = True
                    step = partial(self._coroutine.throw, error)
                except Exception as error:  # noqa: BLE001 - what it waited for failed, which is the coroutine's to handle
                    step = partial(self._coroutine.throw, error)
        finally:
            # one that refuses to be closed is never stepped again: that is all that can be done
            self._guard.call(self._coroutine.close)


def _taken(step: Callable[[], Any]) -> _Ended[Any] | _Waits | _Cancelled:
    try:
        return _Waits(step())
    except StopIteration as stop:
        return _Ended(stop.value)
    except asyncio.CancelledError:
        return _Cancelled()
