"""The host, whatever the client of the broker does: what is acknowledged is saved, and all of it is looked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from engines.sqlite import open_engine
from schemas.errors import EngineUnavailable
from tests.unit.asynchronous.offering import AT, GROUP, Held, Stand, until
from workers.detection.partition import Terms
from workers.detection.takeover import take_over

Told = Callable[[Stand], Awaitable[None]]


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Told], Stand]:
    def told(what: Told) -> Stand:
        stand = Stand(tmp_path)
        asyncio.run(what(stand))  # type: ignore[arg-type]  # every one of them is a coroutine function
        return stand

    return told


Run = Callable[[Told], Stand]


def test_answers_in_any_order_are_acknowledged_in_that_of_the_records(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held()
        async with stand.host(detector) as host:
            await stand.offer(host, 0, 1, 2, 3)
            await until(lambda: len(detector.asked) == 4)
            detector.let_go(1, 3)
            await asyncio.sleep(0.1)
            assert stand.acked == []
            detector.let_go(0)
            await until(lambda: stand.acked == [0, 1])
            counts, offset = stand.counts()
            assert (counts.consumed, counts.new, offset) == (2, 2, 2)
            detector.let_go(2)
            await until(lambda: stand.acked == [0, 1, 2, 3])

    stand = run(told)
    assert stand.said() == [f"number {n}" for n in range(4)]


def test_no_more_are_asked_about_than_may_be_asked_again(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held()
        async with stand.host(detector, ahead=3) as host:
            await stand.offer(host, *range(10))
            await until(lambda: len(detector.asked) == 3)
            detector.let_go(1, 2)
            await asyncio.sleep(0.1)
            assert detector.asked == [0, 1, 2]
            detector.let_go(0)
            await until(lambda: detector.asked == [0, 1, 2, 3, 4, 5])

    run(told)


def test_no_more_are_held_than_there_is_room_for(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held()
        async with stand.host(detector, records=2) as host:
            await stand.offer(host, 0, 1)
            third = asyncio.create_task(stand.offer(host, 2))
            await asyncio.sleep(0.1)
            assert not third.done()
            detector.let_go(0)
            await third

    run(told)


def test_what_the_client_skips_is_fetched(run: Run) -> None:
    async def told(stand: Stand) -> None:
        async with stand.host(Held(free=True)) as host:
            await stand.offer(host, 0, 1, 4)
            assert stand.rewound == [2]
            await stand.offer(host, 5)
            assert stand.rewound == [2, 2]
            await stand.offer(host, 2, 3, 4)
            await until(lambda: stand.acked == [0, 1, 2, 3, 4])

    assert run(told).said() == [f"number {n}" for n in range(5)]


def test_a_gap_that_the_log_has_is_none(run: Run) -> None:
    async def told(stand: Stand) -> None:
        async with stand.host(Held(free=True)) as host:
            await stand.offer(host, 0)
            await until(lambda: stand.acked == [0])
            with open_engine(stand.home) as engine:
                engine.log.trim(AT, 6)
            await stand.offer(host, 6)
            await until(lambda: stand.acked == [0, 6])
            assert stand.rewound == []

    run(told)


def test_repeats_and_other_generations_change_nothing(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held(free=True)
        async with stand.host(detector, generation=7) as host:
            await stand.offer(host, 0, generation=6)
            await stand.offer(host, 0, 1, generation=7)
            await stand.offer(host, 0, 1, generation=7)
            await until(lambda: stand.acked == [0, 1])
            assert detector.asked == [0, 1]
            await host.revoked()
            await host.assigned([AT], 8)
            await stand.offer(host, 0, 1, 2, generation=8)
            await until(lambda: stand.acked == [0, 1, 0, 1, 2])
            assert detector.asked == [0, 1, 2]

    counts, offset = run(told).counts()
    assert (counts.consumed, counts.new, counts.duplicate, offset) == (3, 3, 0, 3)


def test_what_is_under_way_when_partitions_go_comes_again(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held()
        async with stand.host(detector) as host:
            await stand.offer(host, 0, 1, 2)
            await until(lambda: len(detector.asked) == 3)
            detector.let_go(0, 2)
            await host.revoked()
            assert stand.acked == [0]
            await host.assigned([AT], 2)
            detector.let_go(1)
            await stand.offer(host, 1, 2, generation=2)
            await until(lambda: stand.acked == [0, 1, 2])
            assert detector.asked == [0, 1, 2, 1, 2]

    stand = run(told)
    counts, _ = stand.counts()
    assert (counts.consumed, counts.new, counts.duplicate) == (3, 3, 0)
    assert stand.said() == [f"number {n}" for n in range(3)]


def test_records_that_wait_for_room_when_partitions_go_are_dropped(run: Run) -> None:
    async def told(stand: Stand) -> None:
        detector = Held()
        async with stand.host(detector, records=2, ahead=1) as host:
            await stand.offer(host, 0, 1)
            waits = asyncio.create_task(stand.offer(host, 2))
            await until(lambda: detector.asked == [0])
            await host.revoked()
            await waits
            assert stand.acked == []
            await host.assigned([AT], 2)
            detector.let_go(*range(10))
            for offset in range(10):
                await stand.offer(host, offset, generation=2)
            await until(lambda: len(stand.acked) == 10)

    stand = run(told)
    counts, _ = stand.counts()
    assert (counts.consumed, counts.new, counts.duplicate) == (10, 10, 0)


def test_one_whose_partition_another_took_over_ends_and_can_begin_anew(run: Run) -> None:
    async def told(stand: Stand) -> None:
        async with stand.host(Held(free=True)) as host:
            with open_engine(stand.home) as engine:
                take_over(engine.store, GROUP, AT, [], 0, lambda: 10**9, Terms(0, 0, lambda: None))
            await stand.offer(host, 0)
            error = await asyncio.wait_for(host.failure(), 20.0)
            assert isinstance(error, EngineUnavailable)
            assert error.retriable
            assert stand.acked == []
            await host.revoked()

    run(told)
