"""EventLog: the port to the tape. Append-only topics in partitions, read by members of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol


class NewRecord(NamedTuple):
    """A record to append: its key decides the partition."""

    key: str
    value: bytes


class LogRecord(NamedTuple):
    """A record as read: `appended_at` is the log's own time of the append, microseconds."""

    offset: int
    key: str
    value: bytes
    appended_at: int


class TopicPartition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int


class Batch(NamedTuple):
    """Consecutive records of one partition, in order. `next_offset` is what to commit once all are handled."""

    at: TopicPartition
    records: Sequence[LogRecord]
    next_offset: int


Handover = Callable[[Sequence[TopicPartition]], None]
"""Called with partitions that a member got, or is about to let go: it may still commit them inside the call, which
happens within `poll` or `close`, on whatever thread the engine has for it, while those wait."""


class Consumer(Protocol):
    """A member of a group. Partitions are shared among members; each has one owner, named by a generation."""

    def poll(self, limit: int, timeout: float) -> Sequence[Batch]:
        """At most `limit` records, waiting up to `timeout` seconds for the first. Keeps the membership alive, and calls
        the handovers; between two polls at most the session's length may pass (30 s), or the partitions move on.
        Raises Fenced where they have: no handover is called, for its work since the last commit is void; its host joins
        again with a new consumer."""
        ...

    def assignment(self) -> Mapping[TopicPartition, int]:
        """The partitions it owns, each with the generation of that ownership: greater than every earlier owner's."""
        ...

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Records that everything below these offsets is handled. Raises Fenced where it no longer owns one of them:
        then none of them was recorded."""
        ...

    def seek(self, at: TopicPartition, offset: int) -> None:
        """Reads on from `offset`, in a partition that it owns; raises Fenced where it does not."""
        ...

    def pause(self, at: Iterable[TopicPartition]) -> None:
        """Delivers nothing from these until `resume`; they stay its own. Raises Fenced for one that is not."""
        ...

    def resume(self, at: Iterable[TopicPartition]) -> None:
        """Delivers from these again."""
        ...

    def heartbeat(self) -> None:
        """Keeps the membership alive during long work, without taking records. Raises Fenced where it was lost."""
        ...

    def close(self) -> None:
        """Hands back every partition, through the handover, and leaves the group."""
        ...


class EventLog(Protocol):
    """The tape.

    Every method raises EngineUnavailable (retriable) or StorageFull where the engine does not answer or has no room,
    and UnknownTopic for a topic that was not created.
    """

    def create_topic(self, topic: str, partitions: int) -> None:
        """Makes the topic where it is missing. Raises EngineError where it exists with another number of partitions."""
        ...

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has."""
        ...

    def append(self, topic: str, records: Sequence[NewRecord]) -> None:
        """Appends all of them, each to the partition of its key, in this order within a partition; durable on return.
        After an error some of them may have been appended: appending again is safe by I4. Raises RecordTooLarge, naming
        nothing of the value, before anything is written."""
        ...

    def append_placed(self, topic: str, records: Sequence[NewRecord]) -> Sequence[int]:
        """The same as `append`; returns the offset of each record, or -1 where the engine cannot tell it (a broker that
        had the batch already from an attempt whose answer was lost)."""
        ...

    def consumer(
        self, group: str, topics: Sequence[str], *, on_assign: Handover | None = None, on_revoke: Handover | None = None
    ) -> Consumer:
        """Joins the group. A group that never committed starts at the oldest record kept."""
        ...

    def read(self, at: TopicPartition, start: int, limit: int) -> Sequence[LogRecord]:
        """Up to `limit` records from offset `start` on (or from the oldest kept), without any group."""
        ...

    def fetch(self, at: TopicPartition, offsets: Sequence[int]) -> Mapping[int, LogRecord]:
        """The records at just these offsets; what retention has deleted is missing from the answer."""
        ...

    def start_offsets(self, topic: str) -> Mapping[int, int]:
        """By partition: the offset of the oldest record kept."""
        ...

    def end_offsets(self, topic: str) -> Mapping[int, int]:
        """By partition: the offset that the next record will get."""
        ...

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        """By partition: what the group has committed; missing where it never did."""
        ...

    def groups(self) -> Sequence[str]:
        """The groups that there are: with members, or with something committed."""
        ...

    def forget_group(self, group: str) -> None:
        """Forgets a group and what it has committed. Raises EngineError where it has members."""
        ...

    def members(self, group: str) -> int:
        """How many members the group has now; one that died counts until its session is over."""
        ...

    def trim(self, at: TopicPartition, offset: int) -> None:
        """Deletes the records below `offset`, for good: its oldest record kept is then the one at `offset`, or there is
        none where `offset` lies at or beyond the end. Never moves back."""
        ...

    def stored_bytes(self, topic: str) -> Mapping[int, int]:
        """By partition: how many bytes its records take as they are stored, compressed, in one copy. At a cost that
        the number of records does not enter."""
        ...

    def newest_within(self, at: TopicPartition, size: int) -> int:
        """The lowest offset from which on at most `size` bytes are stored: the end where not even the newest fit. As
        near as the engine can tell (by whole appends, or by the average of the partition), at a cost that follows what
        lies below it."""
        ...

    def close(self) -> None:
        """Lets go of what it holds open."""
        ...


def lag(log: EventLog, group: str, topic: str) -> dict[int, int]:
    """By partition: how many records the group has still to handle: max(0, end - max(committed, oldest kept))."""
    start, end, committed = log.start_offsets(topic), log.end_offsets(topic), log.committed(group, topic)
    return {p: max(0, end[p] - max(committed.get(p, 0), start[p])) for p in end}
