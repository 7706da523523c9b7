"""A member of a consumer group on Kafka.

The broker takes the commit of any member it knows, whoever owns the partition. So what a member owns is kept here, by
partition, from the hook that assigns it until the hook that revokes it has returned: a commit for anything else is
Fenced. With the cooperative assignor the client has let a partition go before that hook runs, so positions are kept
here, too.

A member that the group put out is out for good: poll, heartbeat and commit raise Fenced, no handover is called, and its
host joins again with a new consumer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaConsumer
from kafka.errors import KafkaError, OffsetOutOfRangeError
from kafka.structs import MemberState
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.buffer import Buffer
from engines.kafka.committing import Commits
from engines.kafka.connection import Connection
from engines.kafka.faults import passing, put_out, translated
from engines.kafka.fetching import fetched
from engines.kafka.groups import Groups
from engines.kafka.handing import Listener
from engines.kafka.joining import join, keep_answer
from engines.kafka.pulse import Pulse
from engines.kafka.reading import to_records
from engines.kafka.topic import Topic
from engines.log import Batch, Handover, TopicPartition
from schemas.errors import Fenced

_AHEAD_RECORDS = 4_000
"""So many records it fetches beyond what one poll delivers, so that the partitions can take turns."""
_CLOSE_SECONDS = 5.0
_SETTLE_SECONDS = 3.0


class Member:
    """One member. See `engines.log.Consumer`."""

    def __init__(
        self,
        connection: Connection,
        groups: Groups,
        group: str,
        topics: Sequence[Topic],
        session_seconds: float,
        on_assign: Handover | None,
        on_revoke: Handover | None,
    ) -> None:
        self._connection = connection
        self._groups = groups
        self._group = connection.group(group)
        self._names = {topic.full: topic.name for topic in topics}
        self._full = {topic.name: topic.full for topic in topics}
        self._on_assign = on_assign
        self._on_revoke = on_revoke
        self._owned: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._delivered: dict[TopicPartition, int] = {}
        self._buffer = Buffer(to_records)
        self._name: str | None = None
        self._failure: BaseException | None = None
        self._lost = self._closed = self._gone = False
        self._patience = connection.options.append_seconds
        self._client: KafkaConsumer = join(connection, self._group, session_seconds)
        self._commits = Commits(connection, self._client, self._group)
        self._client.subscribe(topics=list(self._names), listener=Listener(self, self._client._net))
        some = [KafkaPartition(topic.full, 0) for topic in topics]
        # the client may be the one that shares out the partitions, before it has heard of any: then nobody gets one
        milliseconds = self._client.config["request_timeout_ms"]
        connection.tried(
            f"join group `{self._group}`", lambda: self._client.beginning_offsets(some, timeout_ms=milliseconds)
        )
        self._pulse = Pulse(connection, self._client, some)

    def poll(self, limit: int, timeout: float) -> Sequence[Batch]:
        if self._lost or self._closed:
            raise self._out()
        until = time.monotonic() + timeout
        while True:
            self._pull(limit, max(0.0, until - time.monotonic()))
            # while it joins anew it sends no heartbeats, so that whoever got work then could be put out for it
            batches = [] if self._between() else self._buffer.take(limit, self._paused)
            for batch in batches:
                self._delivered[batch.at] = batch.next_offset
            if batches or time.monotonic() >= until:
                return batches

    def assignment(self) -> Mapping[TopicPartition, int]:
        return dict(self._owned)

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        if not offsets:
            return
        if self._is_out():
            raise self._out()
        for at in offsets:
            self._own(at)
        self._write(offsets)

    def seek(self, at: TopicPartition, offset: int) -> None:
        self._own(at)
        self._buffer.drop(at)
        self._client.seek(self._theirs(at), offset)
        self._delivered[at] = offset

    def pause(self, at: Iterable[TopicPartition]) -> None:
        for one in at:
            self._own(one)
            self._paused.add(one)
            self._client.pause(self._theirs(one))

    def resume(self, at: Iterable[TopicPartition]) -> None:
        for one in set(at) & self._paused:
            self._paused.discard(one)
            self._client.resume(self._theirs(one))

    def heartbeat(self) -> None:
        # the client sends heartbeats by itself; this tells it that its user is alive, for which it has no public call
        if not self._is_out():
            with suppress(KafkaError):
                self._client._coordinator.poll_heartbeat()
        if self._is_out():
            raise self._out()

    def close(self) -> None:
        if self._closed:
            return
        self._patience = min(self._patience, _CLOSE_SECONDS)
        try:
            if not self._is_out():
                self._settle()
            self._closed = True
            if not self._is_out() and self._owned:
                self._hand_back(sorted(self._owned))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leaves the group, and hands nothing back."""
        if self._gone:
            return
        self._gone = self._closed = True
        self._owned.clear()
        with suppress(KafkaError):
            self._client.close(autocommit=False, timeout_ms=int(_CLOSE_SECONDS * 1_000))

    def revoked(self, partitions: Collection[KafkaPartition]) -> None:
        """See `handing.Hooks`."""
        losing = sorted(at for at in map(self._ours, partitions) if at in self._owned)
        if losing and not self._lost and not self._closed:
            self._guarded(lambda: self._hand_back(losing))

    def assigned(self, partitions: Collection[KafkaPartition]) -> None:
        """See `handing.Hooks`."""
        if self._is_out():
            return
        self._name = self._client.group_metadata().member_id
        taken = [at for at in partitions if self._ours(at) not in self._owned]
        if taken:
            self._guarded(lambda: self._take(taken))

    def lost(self) -> None:
        """See `handing.Hooks`."""
        self._lost = True

    def _guarded(self, work: Callable[[], None]) -> None:
        """What goes wrong in a hook is raised by the poll that waits for it."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - passed on, whatever it is
            self._failure = self._failure or error

    def _take(self, taken: Sequence[KafkaPartition]) -> None:
        try:
            starts = self._groups.starts(self._group, taken)
        except BaseException:
            # it owns what it cannot read: another has to take it
            self._lost = True
            raise
        for theirs, start in starts.items():
            at = self._ours(theirs)
            self._buffer.drop(at)
            self._client.seek(theirs, start.position)
            self._client.resume(theirs)
            self._owned[at], self._delivered[at] = start.generation, start.position
        if self._on_assign is not None:
            self._on_assign(sorted(map(self._ours, taken)))

    def _hand_back(self, losing: Sequence[TopicPartition]) -> None:
        try:
            if self._commits.wait:
                self._write({})
            if self._on_revoke is not None:
                self._on_revoke(losing)
        finally:
            for at in losing:
                self._owned.pop(at, None)
                self._commits.forget(self._theirs(at))
                self._delivered.pop(at, None)
                self._paused.discard(at)
                self._buffer.drop(at)

    def _pull(self, limit: int, seconds: float) -> None:
        """Keeps the membership alive, lets hooks run, and fetches, waiting only where nothing can be delivered."""
        waiting = self._buffer.count(self._paused)
        room = max(1, limit + _AHEAD_RECORDS - waiting)
        at_once = waiting and not self._between()
        found: Mapping[KafkaPartition, Sequence[Any]] = {}
        try:
            found = fetched(self._client, 0.0 if at_once else seconds, room)
        except OffsetOutOfRangeError as error:
            self._reposition(error)
        except KafkaError as error:
            # one that was put out joins again within this poll, and asks where to begin before anybody has said so
            if put_out(error) or self._is_out():
                raise self._out() from error
            if self._failure is None and not passing(error):
                raise translated(
                    error, self._connection.options, f"read as a member of group `{self._group}`"
                ) from error
        keep_answer(self._client)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if self._is_out():
            raise self._out()
        if self._commits.wait and not self._between():
            self._write({})
        for theirs, records in found.items():
            end = self._client.position(theirs, timeout_ms=0) or 0
            self._buffer.add(self._ours(theirs), records, max(end, records[-1].offset + 1))
        self._pulse.felt(bool(found) or bool(waiting))

    def _reposition(self, error: OffsetOutOfRangeError) -> None:
        """The log was trimmed, or cut, under its reader: it goes on at the oldest record kept, or at the end."""
        for theirs, offset in dict(error.args[0]).items():
            oldest, end = self._groups.oldest([theirs])[theirs], self._groups.ends([theirs])[theirs]
            if self._ours(theirs) in self._owned:
                self._client.seek(theirs, oldest if offset < oldest else min(offset, end))

    def _settle(self) -> None:
        """Goes along with a change of the group that is under way, so that what is handled can be committed."""
        until = time.monotonic() + _SETTLE_SECONDS
        while self._between() and self._owned and time.monotonic() < until:
            self._pull(1, 0.1)

    def _between(self) -> bool:
        """Whether the group is just sharing out its partitions anew."""
        return bool(self._client.group_metadata().state == MemberState.REBALANCING)

    def _write(self, offsets: Mapping[TopicPartition, int]) -> None:
        told = {self._theirs(at): (self._beyond_gaps(at, offset), self._owned[at]) for at, offset in offsets.items()}
        if not self._commits.write(told, self._patience):
            raise self._out()

    def _beyond_gaps(self, at: TopicPartition, offset: int) -> int:
        """Where all that was delivered is handled, and the client has stepped over what is no record behind it, that is
        handled as well: else the lag would never end."""
        theirs = self._theirs(at)
        if offset == self._delivered.get(at) and not self._buffer.holds(at) and theirs in self._client.assignment():
            return max(offset, self._client.position(theirs, timeout_ms=0) or 0)
        return offset

    def _own(self, at: TopicPartition) -> None:
        if at not in self._owned:
            raise Fenced(f"group `{self._group}`: this member does not own partition {at.partition} of `{at.topic}`")

    def _is_out(self) -> bool:
        """Whether the group went on without it, as far as is known here; the client joins again under another name."""
        if not self._lost and self._name:
            told = self._client.group_metadata()
            self._lost = told.member_id != self._name or (told.generation_id < 0 and bool(self._owned))
        return self._lost

    def _out(self) -> Fenced:
        """What it owned is another's: it must not hand anything back, nor look like an owner."""
        self._lost = True
        self._owned.clear()
        self._paused.clear()
        return Fenced(
            f"group `{self._group}` went on without this member, which was silent for too long;"
            " its work since the last commit is void. Join again"
        )

    def _theirs(self, at: TopicPartition) -> KafkaPartition:
        return KafkaPartition(self._full.get(at.topic, at.topic), at.partition)

    def _ours(self, at: KafkaPartition) -> TopicPartition:
        return TopicPartition(self._names[at.topic], at.partition)
