"""I9: whatever an asynchronous detector does, whoever asks gets an answer or a fault, in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from tests.factories import observation
from workers.asynchronous import asking
from workers.asynchronous.asking import Asker
from workers.detection.calling import Call
from workers.detection.guard import FATAL, HUNG, Fault, Guard
from workers.detection.plugin import Answer, AsyncDetector, Finding

FINDING = Finding("suspicious", 0.5)
Does = Callable[[], Coroutine[Any, Any, Answer]]


class Doing(AsyncDetector):
    """Does as it is told."""

    name = "doing"

    def __init__(self, does: Does) -> None:
        super().__init__()
        self.does = does

    async def detect(self, observation: object) -> Answer:
        return await self.does()


def ask(does: Does, seconds: float = 0.4, guard: Guard | None = None) -> Answer | Fault:
    async def asked() -> Answer | Fault:
        return await Asker(guard or Guard(seconds), seconds).ask(Doing(does), observation())

    return asyncio.run(asked())


async def never() -> Answer:
    await asyncio.Event().wait()
    return None


async def stubborn() -> Answer:
    while True:
        try:
            await never()
        except asyncio.CancelledError:
            continue


async def of_a_stubborn_one() -> Answer:
    return await asyncio.create_task(stubborn())


async def blocks() -> Answer:
    time.sleep(30)
    return None


async def cancels_itself() -> Answer:
    raise asyncio.CancelledError


async def exits() -> Answer:
    raise SystemExit(1)


async def waits_for_nothing_known() -> Answer:
    class Odd:
        def __await__(self) -> Any:
            yield 5

    await Odd()
    return None


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "TIDY_SECONDS", 0.05)


def test_an_answer_comes_through() -> None:
    async def answers() -> Answer:
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        return FINDING

    assert ask(answers) is FINDING


@pytest.mark.parametrize(
    ("does", "code", "reason"),
    [
        (never, HUNG, "did not answer within 0.4 s"),
        (stubborn, HUNG, "did not answer within 0.4 s"),
        (of_a_stubborn_one, HUNG, "did not answer within 0.4 s"),
        (blocks, HUNG, "did not answer within 0.4 s"),
        (cancels_itself, "plugin", "was cancelled by itself"),
        (exits, "plugin", "raised SystemExit in exits"),
        (waits_for_nothing_known, "plugin", "raised RuntimeError in"),
    ],
)
def test_a_fault_comes_in_time(does: Does, code: str, reason: str) -> None:
    began = time.monotonic()

    async def asked() -> Answer | Fault:
        asker = Asker(Guard(0.4), 0.4)
        return await asker.ask(Doing(does), observation())

    # what is stubborn would keep asyncio.run from ending
    loop = asyncio.new_event_loop()
    said = loop.run_until_complete(asked())
    assert isinstance(said, Fault)
    assert said.code == code
    assert said.reason.startswith(reason)
    assert time.monotonic() - began < 3.0


def test_a_detect_that_is_no_coroutine_is_a_fault() -> None:
    class Plain(AsyncDetector):
        name = "plain"

        def detect(self, observation: object) -> Any:
            return "text"

    async def asked() -> Answer | Fault:
        return await Asker(Guard(), 1.0).ask(Plain(), observation())

    assert asyncio.run(asked()) == Fault("plugin", "detect returned str where an awaitable was due")


def test_one_that_blocks_the_loop_costs_the_others_nothing() -> None:
    async def answers() -> Answer:
        await asyncio.sleep(0.35)
        return FINDING

    async def asked() -> list[Answer | Fault]:
        asker = Asker(Guard(0.4), 0.4)
        return await asyncio.gather(*(asker.ask(Doing(one), observation()) for one in (answers, blocks, answers)))

    first, second, third = asyncio.run(asked())
    assert first is third is FINDING
    assert isinstance(second, Fault)


def test_a_call_in_which_processes_died_is_not_made() -> None:
    made: list[int] = []

    async def counts() -> Answer:
        made.append(1)
        return None

    guard = Guard(suspects={Call("doing", observation().id)})
    said = ask(counts, guard=guard)
    assert isinstance(said, Fault)
    assert said.code == FATAL
    assert made == []


def test_a_call_that_is_given_up_may_tidy_up() -> None:
    tidied: list[str] = []

    async def tidies() -> Answer:
        try:
            return await never()
        finally:
            await asyncio.sleep(0.01)
            tidied.append("yes")

    assert isinstance(ask(tidies), Fault)
    assert tidied == ["yes"]


def test_its_own_timeouts_work() -> None:
    async def times_out() -> Answer:
        try:
            async with asyncio.timeout(0.05):
                return await never()
        except TimeoutError:
            return FINDING

    assert ask(times_out, seconds=5.0) is FINDING


def test_whoever_asks_can_be_cancelled() -> None:
    ended: list[str] = []

    async def notes() -> Answer:
        try:
            return await never()
        finally:
            ended.append("yes")

    async def asked() -> None:
        task: asyncio.Task[Any] = asyncio.create_task(_asked(Asker(Guard(), 60.0).ask(Doing(notes), observation())))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asked())
    assert ended == ["yes"]


def test_too_many_that_linger_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "STRAYS_MOST", 1)

    async def asked() -> list[bool]:
        asker, told = Asker(Guard(0.1), 0.1), []
        for _ in range(3):
            await asker.ask(Doing(of_a_stubborn_one), observation())
            told.append(asker.overrun)
        return told

    assert asyncio.new_event_loop().run_until_complete(asked()) == [False, True, True]


async def _asked(asked: Awaitable[Answer | Fault]) -> Answer | Fault:
    return await asked
