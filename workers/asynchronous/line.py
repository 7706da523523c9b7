"""The records of one partition in order, from their arrival until what they brought is saved. Pure.

Answers come in any order; what is saved is always the records from the front that are done, so that one offset says
what is saved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engines.log import LogRecord, TopicPartition
from workers.detection.looking import Outcome, Taken
from workers.detection.partition import Partition


@dataclass(slots=True, eq=False)
class Slot:
    """A record under way. `ack` tells the broker's client that it is done with. `taken` is the observation, where it is
    a new one; `outcome` what it has brought so far."""

    record: LogRecord
    ack: Callable[[], object]
    taken: Taken | None = None
    quarantined: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    asked: bool = False
    done: bool = False


@dataclass(slots=True, eq=False)
class Line:
    """One partition's records, as long as it is owned. `held` is what is known of the partition, `unsaved` the ids that
    were taken in and not saved: both belong to the keeper's thread. `start`: all below this offset were saved when the
    partition was taken over; `next`: the offset from which the next record must come."""

    at: TopicPartition
    held: Partition
    start: int = field(init=False)
    next: int = field(init=False)
    slots: deque[Slot] = field(default_factory=deque)
    unsaved: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.start = self.next = self.held.offset

    def add(self, slot: Slot) -> None:
        """Puts a record at the end."""
        self.slots.append(slot)
        self.next = slot.record.offset + 1

    def ready(self) -> Sequence[Slot]:
        """The records at the front that are done."""
        found = []
        for slot in self.slots:
            if not slot.done:
                break
            found.append(slot)
        return found

    def drop(self, count: int) -> None:
        """Lets go of so many from the front: they are saved."""
        for _ in range(count):
            self.slots.popleft()
