"""Members of groups, as tests drive them: polled in turn until something holds, with a deadline and no guess."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engines.engine import Engine
from engines.log import Batch, LogRecord, NewRecord, TopicPartition

TOPIC = "observations"
GROUP = "detectors"
PATIENCE = 60.0
"""Seconds after which a test gives up."""


class Driven:
    """A member that keeps what it was given, and what was handed to it and back, in order."""

    def __init__(self, engine: Engine, group: str = GROUP, topics: Sequence[str] = (TOPIC,)) -> None:
        self.got: list[tuple[TopicPartition, LogRecord]] = []
        self.assigned: list[TopicPartition] = []
        self.revoked: list[TopicPartition] = []
        self.on_revoke: Callable[[Sequence[TopicPartition]], None] = lambda partitions: None
        self.consumer = engine.log.consumer(group, topics, on_assign=self.assigned.extend, on_revoke=self._revoke)

    def _revoke(self, partitions: Sequence[TopicPartition]) -> None:
        self.revoked.extend(partitions)
        self.on_revoke(partitions)

    def poll(self, limit: int = 100, timeout: float = 0.02) -> Sequence[Batch]:
        """One poll; its records are kept."""
        batches = self.consumer.poll(limit, timeout)
        self.got += [(batch.at, record) for batch in batches for record in batch.records]
        return batches

    @property
    def owned(self) -> set[TopicPartition]:
        """What it owns."""
        return set(self.consumer.assignment())


def until(holds: Callable[[], bool], *members: Driven) -> None:
    """Polls the members in turn until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "this never came to hold"
        for member in members:
            member.poll()


def all_of(partitions: int, topic: str = TOPIC) -> set[TopicPartition]:
    """Every partition of the topic."""
    return {TopicPartition(topic, partition) for partition in range(partitions)}


def settled(partitions: int, *members: Driven) -> None:
    """Polls until the members own everything among them, as evenly as can be."""

    def even() -> bool:
        loads = [len(member.owned) for member in members]
        everything = set().union(*(member.owned for member in members)) == all_of(partitions)
        return everything and sum(loads) == partitions and max(loads) - min(loads) <= 1

    until(even, *members)


def numbered(count: int, keys: int = 20) -> list[NewRecord]:
    """Records 0, 1, 2 … over so many keys."""
    return [NewRecord(f"acme/host:{number % keys}", str(number).encode()) for number in range(count)]
