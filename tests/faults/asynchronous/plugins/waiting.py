"""Asynchronous detectors for the tests: each notes in a file that it was called, as a bill would."""

from __future__ import annotations

import asyncio
import os
import time

from pydantic import BaseModel, ConfigDict

from casetape import AsyncDetector, Finding, Observation


class Bill(BaseModel):
    """Where calls are noted, and how many seconds an answer takes."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str = ""
    seconds: float = 0.1


class Billed(AsyncDetector):
    """Takes its time, and notes that it was called."""

    kinds = ("zeek.conn",)
    Parameters = Bill

    async def wait(self, observation: Observation) -> int:
        """Returns the observation's number."""
        assert isinstance(self.parameters, Bill)
        assert observation.data is not None
        note(self.parameters.path, observation)
        await asyncio.sleep(self.parameters.seconds)
        return int(observation.data["n"])


class Slow(Billed):
    """Answers after a while."""

    name = "slow"

    async def detect(self, observation: Observation) -> Finding:
        """The number."""
        return found(await self.wait(observation))


class Odd(Billed):
    """Does what no detector should, by the observation's number."""

    name = "odd"
    concurrency = 4

    async def detect(self, observation: Observation) -> list[Finding]:
        """The number, or trouble."""
        number = await self.wait(observation)
        if number % 10 == 3:
            raise ValueError("canary-8c1f")
        if number == 25:
            await asyncio.Event().wait()
        if number == 47:
            return "rubbish"  # type: ignore[return-value]  # the mistake under test
        if number == 66:
            time.sleep(60)
        if number == 88:
            raise asyncio.CancelledError
        if number == 77:
            await asyncio.create_task(never())
        if number == 99:
            await never()
        assert observation.data is not None
        observation.data["n"] = -1
        return [found(number)]


class Fatal(Billed):
    """Ends its process at one observation."""

    name = "fatal"

    async def detect(self, observation: Observation) -> Finding:
        """The number, or the end."""
        number = await self.wait(observation)
        if number == 30:
            os._exit(1)
        return found(number)


async def never() -> None:
    """Goes on, whatever anyone says."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


def note(path: str, observation: Observation) -> None:
    """One line a call, whole even where processes write at once."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{observation.id}\n".encode())
    os.close(handle)


def found(number: int) -> Finding:
    """A finding about a number."""
    return Finding("suspicious", 0.5, fingerprint=f"number {number}", title="seen")
