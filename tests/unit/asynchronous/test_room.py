"""Room bounds what is held, and never keeps a record out for good."""

from __future__ import annotations

import asyncio

from workers.asynchronous.room import Room


async def entered(room: Room, size: int) -> asyncio.Task[bool]:
    task = asyncio.create_task(room.enter(size))
    await asyncio.sleep(0)
    return task


def test_records_and_bytes_are_bounded() -> None:
    async def told() -> None:
        room = Room(3, 100)
        assert await room.enter(60)
        too_large = await entered(room, 50)
        assert not too_large.done()
        room.leave(1, 60)
        assert await too_large
        assert await room.enter(10)
        assert await room.enter(10)
        fourth = await entered(room, 1)
        assert not fourth.done()
        room.leave(1, 10)
        assert await fourth

    asyncio.run(told())


def test_one_record_always_fits() -> None:
    async def told() -> None:
        assert await Room(1, 10).enter(1_000_000)

    asyncio.run(told())


def test_whoever_waits_when_it_is_emptied_is_not_in_it() -> None:
    async def told() -> None:
        room = Room(1, None)
        assert await room.enter(0)
        second = await entered(room, 0)
        room.empty()
        assert not await second
        assert room.taken == 0
        assert await room.enter(0)

    asyncio.run(told())
