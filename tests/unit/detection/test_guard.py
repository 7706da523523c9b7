"""I9: whatever a plug-in does in a call, the caller gets an answer or a fault that carries no content."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from schemas.errors import Fenced, PluginError
from workers.detection.guard import HUNG, Fault, Guard

CANARY = "canary-5f0e"


class Evil(BaseException):
    """No Exception at all."""


def raises(error: BaseException) -> Callable[[], NoReturn]:
    def call() -> NoReturn:
        raise error

    return call


def forever() -> None:
    while True:
        pass


def stubborn() -> None:
    while True:
        try:
            forever()
        except Exception:  # noqa: BLE001, S112 - the mistake under test
            continue


def test_an_answer_comes_through() -> None:
    assert Guard().call(lambda: 5) == 5


@pytest.mark.parametrize(
    "error",
    [
        ValueError(CANARY),
        KeyError(CANARY),
        SystemExit(CANARY),
        GeneratorExit(CANARY),
        PluginError(CANARY),
        Fenced(CANARY),
        RecursionError(CANARY),
        MemoryError(CANARY),
        asyncio.CancelledError(CANARY),
        Evil(CANARY),
    ],
)
def test_what_it_raises_is_a_fault_without_content(error: BaseException) -> None:
    fault = Guard().call(raises(error))
    assert isinstance(fault, Fault)
    assert fault.code == "plugin"
    assert CANARY not in str(fault)
    assert type(error).__name__ in fault.reason
    assert re.search(r"in call, line \d+ of test_guard.py", fault.reason)


def test_an_interrupt_out_of_a_plug_in_is_its_own() -> None:
    """A worker ignores SIGINT: what a person wants to stop, the parent stops."""
    fault = Guard().call(raises(KeyboardInterrupt()))
    assert isinstance(fault, Fault)
    assert "KeyboardInterrupt" in fault.reason


@pytest.mark.parametrize("call", [forever, stubborn, lambda: time.sleep(100)])
def test_a_hang_is_interrupted(call: Callable[[], Any]) -> None:
    fault = Guard(0.05).call(call)
    assert fault == Fault(HUNG, "did not answer within 0.05 s")


def test_afterwards_everything_is_as_before() -> None:
    def mine(_number: int, _frame: object) -> None: ...

    before = signal.signal(signal.SIGALRM, mine)
    try:
        Guard(0.05).call(forever)
        assert signal.getsignal(signal.SIGALRM) is mine
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_slow_call_keeps_the_worker_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.detection.guard.RING_SECONDS", 0.01)
    beats: list[int] = []

    def slow() -> int:
        while len(beats) < 3:
            pass
        return 7

    assert Guard(60.0, lambda: beats.append(1)).call(slow) == 7


def test_a_lost_membership_is_raised_once_the_call_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not inside the plug-in, which could catch it."""
    monkeypatch.setattr("workers.detection.guard.RING_SECONDS", 0.01)
    beats: list[int] = []
    caught: list[BaseException] = []

    def lost() -> None:
        beats.append(1)
        raise Fenced

    def slow() -> None:
        try:
            while not beats:
                pass
        except BaseException as error:  # noqa: BLE001 - nothing may arrive here
            caught.append(error)

    with pytest.raises(Fenced):
        Guard(60.0, lost).call(slow)
    assert caught == []


def test_in_another_thread_there_is_no_limit_and_no_failure() -> None:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(Guard(0.01).call(lambda: 5)))
    thread.start()
    thread.join()
    assert found == [5]
