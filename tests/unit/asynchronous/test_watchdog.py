"""The watchdog bites where records wait and nothing is finished, and only there."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from workers.asynchronous.options import AsyncOptions
from workers.asynchronous.watchdog import Stuck, Watchdog


@dataclass
class Host:
    """What it watches; each look finishes `step` records."""

    records: int = 5
    step: int = 0
    joined: bool = True
    finished: int = 0
    options: AsyncOptions = field(default_factory=lambda: AsyncOptions("set", stuck=0.4, call=0.1))

    async def waiting(self) -> int:
        self.finished += self.step
        return self.records


def bitten(host: Host, during: Callable[[], None] | None = None) -> str | None:
    """What it says within a second and a half, or None; `during` runs in the event loop after a moment."""
    said: list[Stuck] = []
    heard = threading.Event()

    def stuck(error: Stuck) -> None:
        said.append(error)
        heard.set()

    async def watched() -> None:
        dog = Watchdog(host, stuck)
        dog.start()
        looking = asyncio.create_task(dog.look())
        await asyncio.sleep(0.2)
        if during is not None:
            during()
        await asyncio.to_thread(heard.wait, 1.3)
        dog.stop()
        looking.cancel()

    asyncio.run(watched())
    return str(said[0]) if said else None


def test_nothing_finished_while_records_wait() -> None:
    said = bitten(Host())
    assert said is not None
    assert said.startswith("detect-async-set has finished nothing for")
    assert "while 5 records wait" in said


@pytest.mark.parametrize("host", [Host(records=0), Host(step=1)])
def test_all_is_well(host: Host) -> None:
    assert bitten(host) is None


def test_never_told_which_partitions_it_has() -> None:
    said = bitten(Host(joined=False))
    assert said is not None
    assert "was not told for" in said


def test_a_blocked_event_loop_is_noticed() -> None:
    said = bitten(Host(records=0), lambda: time.sleep(1.0))
    assert said is not None
    assert "does not answer" in said


def test_a_slow_detector_is_given_its_time() -> None:
    assert Watchdog(Host(options=AsyncOptions("set", stuck=60.0, call=600.0)), lambda error: None).limit == 1200.0
