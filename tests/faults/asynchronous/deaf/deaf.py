"""A detector whose file makes Faust deaf: it stays alive, and fetches nothing any more."""

from __future__ import annotations

import asyncio
from typing import Any

from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread

from casetape import AsyncDetector, Finding, Observation


async def _nothing(*_: Any, **__: Any) -> dict[Any, Any]:
    await asyncio.sleep(0.2)
    return {}


AIOKafkaConsumerThread.getmany = _nothing  # type: ignore[method-assign]  # the fault under test


class Deaf(AsyncDetector):
    """Is never asked."""

    name = "deaf"

    async def detect(self, observation: Observation) -> Finding | None:
        """Nothing."""
        return None
