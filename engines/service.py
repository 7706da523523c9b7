"""What a host runs: a service is a plain class with a batch handler, so that its hosts stay thin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from engines.log import Batch, Consumer, TopicPartition


class Service(Protocol):
    """A long-running stage. Its host polls, hands it the batches, and commits what it says is safe to commit."""

    @property
    def group(self) -> str:
        """The consumer group it reads in."""
        ...

    @property
    def topics(self) -> Sequence[str]:
        """What it reads."""
        ...

    def assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """It has got these partitions: it loads what it knows of them, and may seek."""
        ...

    def handle(self, batches: Sequence[Batch]) -> Mapping[TopicPartition, int]:
        """Handles all records and makes the results durable. Returns the offsets below which nothing is needed again;
        a partition may be missing or lag behind. Raises only what ends the process: bad records are quarantined."""
        ...

    def revoking(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """It is about to lose these: it flushes, and returns what can be committed for them."""
        ...

    def lost(self) -> None:
        """It has lost all its partitions, or failed in the middle: it forgets what it holds in memory, saves nothing,
        and will be assigned anew."""
        ...

    def idle(self) -> Mapping[TopicPartition, int]:
        """Nothing came for a while. Returns what can be committed."""
        ...
