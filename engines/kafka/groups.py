"""What a group has committed, where its members begin, and the number that each ownership gets.

A Kafka generation is no fencing token: it starts again when a group is deleted, and a static member that restarts gets
the one it had. So a commit carries the owner's number beside the offset, and the next owner takes a number that is
greater, and not below the microseconds of its own clock: greater than every earlier owner's that committed, and, but
for clocks that differ, than every other's. Snapshots are fenced by the store's own count (`workers.detection`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kafka.admin import OffsetSpec
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.connection import Connection

_NOTE = re.compile(r"casetape (\d{1,19})")


class Start(NamedTuple):
    """Where an owner begins, and the number of its ownership."""

    position: int
    generation: int


def note(generation: int) -> str:
    """What a commit carries beside the offset."""
    return f"casetape {generation}"


def next_generation(noted: str | None, now: int) -> int:
    """A number above the one noted with the last commit, and not below `now`, in microseconds."""
    found = _NOTE.fullmatch(noted or "")
    return max(now, int(found[1]) + 1) if found else now


class Groups:
    """The groups of one log, as whoever is no member of them sees them."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.time) -> None:
        self._connection = connection
        self._clock = clock

    def committed(self, group: str, partitions: Iterable[KafkaPartition]) -> dict[KafkaPartition, tuple[int, str]]:
        """What the group has committed: offset and note; missing where it never did."""
        wanted = list(partitions)
        found = self._connection.call(
            f"read the offsets of group `{group}`", lambda admin: admin.list_group_offsets({group: wanted})
        ).get(group, {})
        return {at: (one.offset, one.metadata) for at, one in found.items() if one.offset >= 0}

    def starts(self, group: str, partitions: Iterable[KafkaPartition]) -> dict[KafkaPartition, Start]:
        """Where a new owner begins: at what was committed, or at the oldest record kept where that is gone or nothing
        was committed, or at the end where the log was cut below what was committed."""
        wanted = list(partitions)
        oldest, ends = self.oldest(wanted), self.ends(wanted)
        committed = self.committed(group, wanted)
        now = int(self._clock() * 1_000_000)
        starts = {}
        for at in wanted:
            offset, noted = committed.get(at, (0, ""))
            starts[at] = Start(min(max(offset, oldest[at]), ends[at]), next_generation(noted, now))
        return starts

    def oldest(self, partitions: Iterable[KafkaPartition]) -> Mapping[KafkaPartition, int]:
        """The oldest offset kept."""
        return self._offsets(partitions, OffsetSpec.EARLIEST)

    def ends(self, partitions: Iterable[KafkaPartition]) -> Mapping[KafkaPartition, int]:
        """The offset that the next record will get."""
        return self._offsets(partitions, OffsetSpec.LATEST)

    def _offsets(self, partitions: Iterable[KafkaPartition], spec: OffsetSpec) -> dict[KafkaPartition, int]:
        wanted = dict.fromkeys(partitions, spec)
        names = ", ".join(sorted({f"`{at.topic}`" for at in wanted}))
        found = self._connection.call(
            f"read the offsets of topic {names}", lambda admin: admin.list_partition_offsets(wanted)
        )
        return {at: one.offset for at, one in found.items()}
