"""A member of a consumer group on SQLite.

Every poll sees with one read whether the group has changed. If so, or when a third of the session has passed or the
clock was set back, it renews its lease, removes dead members, works out the shares (`groups.share_out`), hands back
what should move and takes what is free and its own. A partition of a living member is taken only after that member has
handed it back.

A member whose process has ended is removed by whoever notices first, a second later at most. One that was silent for
longer than its session, and was removed by another, is out for good: poll, heartbeat and commit raise Fenced, no
handover is called, and its host joins again with a new consumer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engines.log import Batch, Handover, TopicPartition
from engines.sqlite.connection import Database
from engines.sqlite.groups import Group, new_member, share_out
from engines.sqlite.reading import Reader
from engines.sqlite.topic import Topic
from schemas.errors import Fenced

_SHORTEST_WAIT, _LONGEST_WAIT = 0.005, 0.05
_ASK_SECONDS = 0.5
"""So often a member asks whether the processes of the others are there."""
_POLL_BYTES = 8 * 1024 * 1024
"""A poll reads no further batch once it has read this many bytes, as stored."""


@dataclass
class _Owned:
    generation: int
    position: int


class Member:
    """One member. See `engines.log.Consumer`."""

    def __init__(
        self,
        database: Database,
        group: str,
        topics: Sequence[Topic],
        session_seconds: float,
        clock: Callable[[], float],
        on_assign: Handover | None,
        on_revoke: Handover | None,
    ) -> None:
        self._database = database
        self._group = Group(group)
        self._topics = {topic.name: topic for topic in topics}
        self._session = int(session_seconds * 1_000_000)
        self._clock = clock
        self._on_assign = on_assign
        self._on_revoke = on_revoke
        self._member = new_member()
        self._owned: dict[TopicPartition, _Owned] = {}
        self._paused: set[TopicPartition] = set()
        self._reader = Reader(database)
        self._epoch = -1
        self._renewed_at: int | None = None
        self._lost = self._closed = False
        self._turn = 0
        self._asked_at = time.monotonic()
        with database.writing() as connection:
            self._group.join(connection, self._member, topics, self._now(), self._session)

    def poll(self, limit: int, timeout: float) -> Sequence[Batch]:
        until = time.monotonic() + timeout
        wait = _SHORTEST_WAIT
        while True:
            self._look()
            batches = self._collect(limit)
            left = until - time.monotonic()
            if batches or left <= 0:
                return batches
            time.sleep(min(wait, left))
            wait = min(wait * 1.5, _LONGEST_WAIT)

    def assignment(self) -> Mapping[TopicPartition, int]:
        return {at: owned.generation for at, owned in self._owned.items()}

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        if not offsets:
            return
        with self._database.writing() as connection:
            for at, offset in offsets.items():
                owned = self._own(at)
                moved = connection.execute(
                    "UPDATE shares SET committed = ? WHERE group_id = ? AND topic_id = ? AND partition = ?"
                    " AND owner = ? AND generation = ?",
                    (offset, self._group.id, self._topics[at.topic].id, at.partition, self._member, owned.generation),
                )
                if moved.rowcount != 1:
                    raise self._fenced(at)

    def seek(self, at: TopicPartition, offset: int) -> None:
        self._own(at).position = offset

    def pause(self, at: Iterable[TopicPartition]) -> None:
        for one in at:
            self._own(one)
            self._paused.add(one)

    def resume(self, at: Iterable[TopicPartition]) -> None:
        self._paused.difference_update(at)

    def heartbeat(self) -> None:
        now = self._now()
        if not self._due(now):
            renewed = self._is_member()
        else:
            with self._database.writing() as connection:
                renewed = self._group.renew(connection, self._member, now)
            self._renewed_at = now
        if self._lost or not renewed:
            raise self._out()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._lost or not self._is_member():
            self._owned.clear()
            return
        try:
            if self._owned and self._on_revoke is not None:
                self._on_revoke(sorted(self._owned))
        finally:
            self._owned.clear()
            with self._database.writing() as connection:
                self._group.leave(connection, self._member)

    def _is_member(self) -> bool:
        return self._group.has(self._database, self._member)

    def _due(self, now: int) -> bool:
        """Whether its lease is to be renewed: after a third of the session, or when the clock was set back."""
        last = self._renewed_at
        return last is None or not last <= now < last + self._session // 3

    def _now(self) -> int:
        return int(self._clock() * 1_000_000)

    def _own(self, at: TopicPartition) -> _Owned:
        owned = self._owned.get(at)
        if owned is None:
            raise self._fenced(at)
        return owned

    def _fenced(self, at: TopicPartition) -> Fenced:
        return Fenced(f"group `{self._group.name}`: this member does not own partition {at.partition} of `{at.topic}`")

    def _out(self) -> Fenced:
        """What it owned is another's: it must not hand anything back, nor look like an owner."""
        self._lost = True
        self._owned.clear()
        self._paused.clear()
        return Fenced(
            f"group `{self._group.name}` went on without this member, which was silent for longer than its session;"
            " its work since the last commit is void. Join again"
        )

    def _look(self) -> None:
        """Brings membership and shares up to date, where anything has changed."""
        if self._lost or self._closed:
            raise self._out()
        now = self._now()
        epoch, soonest = self._group.glance(self._database)
        calm = epoch == self._epoch and not self._due(now) and soonest is not None and soonest >= now
        if calm and not self._bereaved():
            return
        losing, taken = self._step(now)
        if losing:
            if self._on_revoke is not None:
                self._on_revoke(losing)
            self._let_go(losing)
        if taken and self._on_assign is not None:
            self._on_assign(taken)

    def _bereaved(self) -> bool:
        """Whether another member's process has ended; asked now and then."""
        moment = time.monotonic()
        if moment - self._asked_at < _ASK_SECONDS:
            return False
        self._asked_at = moment
        return self._group.bereaved(self._database)

    def _step(self, now: int) -> tuple[list[TopicPartition], list[TopicPartition]]:
        """One transaction: what it has to hand back, and what it has taken."""
        group = self._group
        with self._database.writing() as connection:
            if not group.renew(connection, self._member, now):
                raise self._out()
            group.expire(connection, now)
            shares = group.shares(connection)
            owners = {at: share.owner for at, share in shares.items() if share.owner is not None}
            target = share_out(list(shares), group.members(connection), owners)
            free = [at for at, member in target.items() if member == self._member and shares[at].owner is None]
            taken = {at: _Owned(*group.take(connection, self._topics[at.topic].id, at, self._member)) for at in free}
            if taken:
                group.changed(connection)
            epoch = group.epoch(connection)
        self._owned |= taken
        self._epoch, self._renewed_at = epoch, now
        losing = [at for at in self._owned if target.get(at) != self._member]
        return sorted(losing), sorted(taken)

    def _let_go(self, losing: Sequence[TopicPartition]) -> None:
        with self._database.writing() as connection:
            for at in losing:
                self._group.release(connection, self._topics[at.topic].id, at, self._member)
            self._group.changed(connection)
        for at in losing:
            del self._owned[at]
            self._paused.discard(at)
            self._reader.forget(self._topics[at.topic].id, at.partition)

    def _collect(self, limit: int) -> list[Batch]:
        """What there is to read, beginning with another partition each time, so that none waits for ever."""
        ready = sorted(at for at in self._owned if at not in self._paused)
        if not ready:
            return []
        self._turn += 1
        turn = self._turn % len(ready)
        bounds = self._bounds()
        batches: list[Batch] = []
        room = _POLL_BYTES
        for at in ready[turn:] + ready[:turn]:
            oldest, end = bounds[at]
            owned = self._owned[at]
            owned.position = max(owned.position, oldest)
            if owned.position >= end or limit <= 0 or room <= 0:
                continue
            records = self._reader.read(self._topics[at.topic].id, at.partition, owned.position, limit, room)
            # another process may have trimmed them just now
            if not records:
                continue
            owned.position = records[-1].offset + 1
            batches.append(Batch(at, records, owned.position))
            limit -= len(records)
            room -= sum(len(record.value) for record in records)
        return batches

    def _bounds(self) -> dict[TopicPartition, tuple[int, int]]:
        """By partition of its topics: the oldest offset kept, and the next to be written."""
        names = {topic.id: topic.name for topic in self._topics.values()}
        rows = self._database.rows(
            "SELECT topic_id, partition, start_offset, next_offset FROM partitions"
            " WHERE topic_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(names)),),
        )
        return {TopicPartition(names[topic], partition): (start, end) for topic, partition, start, end in rows}
