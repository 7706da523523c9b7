"""Hooks of a rebalance, run so that they may work for long and may call the client.

The client calls a listener on the thread of its connections, where nothing may block and no call of the client answers.
So each hook gets a thread of its own, and the rebalance waits for it while heartbeats go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any, Protocol

from kafka import AsyncConsumerRebalanceListener
from kafka.future import Future
from kafka.structs import TopicPartition as KafkaPartition


class Hooks(Protocol):
    """What a member does in a rebalance."""

    def revoked(self, partitions: Collection[KafkaPartition]) -> None:
        """It is about to lose these."""
        ...

    def assigned(self, partitions: Collection[KafkaPartition]) -> None:
        """It has got these."""
        ...

    def lost(self) -> None:
        """It is no member any more."""
        ...


class Listener(AsyncConsumerRebalanceListener):  # type: ignore[misc] # the client ships no types
    """Passes a rebalance on to the hooks. `net`: the client's loop."""

    def __init__(self, hooks: Hooks, net: Any) -> None:
        self._hooks = hooks
        self._net = net

    async def on_partitions_revoked(self, revoked: Collection[KafkaPartition]) -> None:
        await self._aside(lambda: self._hooks.revoked(revoked))

    async def on_partitions_assigned(self, assigned: Collection[KafkaPartition]) -> None:
        await self._aside(lambda: self._hooks.assigned(assigned))

    async def on_partitions_lost(self, lost: Collection[KafkaPartition]) -> None:
        # nothing may be committed any more: there is no work for a thread
        self._hooks.lost()

    async def _aside(self, work: Callable[[], None]) -> None:
        done = Future()

        def run() -> None:
            try:
                work()
            finally:
                self._net.call_soon_threadsafe(lambda: done.success(None))

        threading.Thread(target=run, name="casetape-handover", daemon=True).start()
        await done
