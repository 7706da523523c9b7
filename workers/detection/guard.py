"""Calls into plug-ins: one that raises, hangs or returns rubbish costs its own result, and nothing else (I9)."""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections.abc import Callable, Container
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import NamedTuple, TypeVar

from schemas.errors import EngineError, PluginError
from workers.detection.calling import DEATHS, Call, Calling

T = TypeVar("T")
CALL_SECONDS = 10.0
"""A call into a plug-in may take this long."""
RING_SECONDS = 1.0
"""So often a call under way is looked at, and the worker's membership kept alive."""
HUNG = "plugin_hung"
FATAL = "plugin_fatal"


class _Hung(BaseException):
    """Raised inside a plug-in that takes too long: no Exception, so that it passes its `except Exception`."""


class Fault(NamedTuple):
    """What a plug-in did wrong. The reason names the error's type and place, never what it was about: a message may
    carry the observation's content."""

    code: str
    reason: str


class Guard:
    """How plug-ins are called: each call for at most `seconds`. `beat` is called now and then while one is under way,
    so that a slow plug-in does not cost the worker its partitions; what it raises is raised once the call is over.
    `calling` notes named calls; those among `suspects` are not made, since processes died in them."""

    def __init__(
        self,
        seconds: float = CALL_SECONDS,
        beat: Callable[[], None] = lambda: None,
        calling: Calling | None = None,
        suspects: Container[Call] = frozenset(),
    ) -> None:
        self._seconds = seconds
        self._beat = beat
        self._calling = Calling() if calling is None else calling
        self._suspects = suspects

    def suspects(self, call: Call) -> bool:
        """Whether processes died in this call."""
        return call in self._suspects

    def call(self, call: Callable[[], T], named: Call | None = None) -> T | Fault:
        """What the call returns, or how it failed.

        A call that runs code outside Python's own loop (a regular expression, a C library) is interrupted as soon as it
        returns from there; elsewhere than in the main thread no call is. One that never returns is ended with its
        process by the supervisor, and not made for the fourth time.
        """
        if named is not None and self.suspects(named):
            return Fault(
                FATAL, f"{DEATHS} processes ended or froze in this call: it is made again by `run --replay` only"
            )
        watch = _Watch(self._seconds, self._beat)
        try:
            with self._calling.of(named) if named is not None else nullcontext():
                result: T | Fault = watch.over(call)
        except _Hung:
            result = Fault(HUNG, f"did not answer within {self._seconds:g} s")
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything; it is recorded by the caller
            result = Fault(PluginError.code, f"raised {type(error).__name__}{_place(error)}")
        if watch.lost is not None:
            raise watch.lost
        return result


class _Watch:
    """One call under a timer whose signal only the main thread gets."""

    def __init__(self, seconds: float, beat: Callable[[], None]) -> None:
        self.lost: EngineError | None = None
        self._beat = beat
        self._until = time.monotonic() + seconds
        self._every = min(seconds, RING_SECONDS)
        self._armed = False

    def over(self, call: Callable[[], T]) -> T:
        """What the call returns."""
        if threading.current_thread() is not threading.main_thread():
            return call()
        before = signal.signal(signal.SIGALRM, self._ring)
        try:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self._every, self._every)
            try:
                return call()
            finally:
                self._armed = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if not self._armed:
            return
        if time.monotonic() >= self._until:
            raise _Hung
        try:
            self._beat()
        except EngineError as error:
            # not from inside the plug-in, which might catch it
            self.lost = error


def _place(error: BaseException) -> str:
    """Where in the plug-in it was raised: the last frame that is neither ours nor a library's, or else the last."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [one for one in frames if not _elsewhere(one[0].f_code.co_filename)]
    if not frames:
        return ""
    frame, line = (own or frames)[-1]
    return f" in {frame.f_code.co_name}, line {line} of {Path(frame.f_code.co_filename).name}"


def _elsewhere(file: str) -> bool:
    path = Path(file)
    return "site-packages" in path.parts or path.is_relative_to(_WORKERS) or not path.is_absolute()


_WORKERS = Path(__file__).parents[1]
