"""The embedded host: polls, hands batches to a service, commits what it says. Thin, so that another can replace it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from engines.failpoints import fail_point
from engines.log import Consumer, EventLog, TopicPartition
from engines.service import Service
from schemas.errors import Fenced, Lost

POLL_RECORDS = 2_000
FIRST_RECORDS = 250
"""The first batch is no larger: nobody knows yet how long a record takes."""
BATCH_SECONDS = 2.0
"""About so long a batch may take. A group that shares out its partitions anew waits for whoever is in one, and puts out
who does not come; were batches longer than it waits, each would begin again what another had been put out of."""
POLL_SECONDS = 0.05
IDLE_SECONDS = 0.5
RACES = 5


@runtime_checkable
class Drains(Protocol):
    """A service that does something when a bounded run's input has been read to its end."""

    def drain(self, until: Mapping[int, int]) -> Mapping[TopicPartition, int]:
        """Concludes what is read up to these offsets by partition. Returns what can be committed."""
        ...


@runtime_checkable
class Gathers(Protocol):
    """A service to which each record costs less the more come at once."""

    @property
    def poll_records(self) -> int:
        """How many records it takes at most in one batch."""
        ...


class Orders(Protocol):
    """What the host is told from outside."""

    def stopped(self) -> bool:
        """Whether to finish and leave."""
        ...

    def until(self) -> Mapping[int, int] | None:
        """Where a bounded run's input ends, by partition, once that is known."""
        ...

    def pulse(self, owned: Collection[TopicPartition]) -> None:
        """Is told, often, that the loop goes round, and which partitions are owned."""
        ...


def serve(log: EventLog, service: Service, orders: Orders, on_ready: Callable[[], None] = lambda: None) -> None:
    """Runs the service until it is told to stop. A member that lost its partitions, or a race too often, forgets what
    it holds and joins again. Raises what the service raises, after it has forgotten what it holds: what a failed batch
    left in memory must not be saved."""
    races = 0
    told = False
    # kept from one membership to the next: what cost the last one must not cost the next
    pace = Pace(service.poll_records if isinstance(service, Gathers) else POLL_RECORDS)
    while not orders.stopped():
        consumer = _join(log, service)
        if not told:
            on_ready()
            told = True
        try:
            _loop(consumer, service, orders, pace)
        except Fenced:
            service.lost()
        except Lost:
            service.lost()
            races += 1
            if races > RACES:
                raise
        except BaseException:
            service.lost()
            raise
        finally:
            _leave(consumer, service)


def _join(log: EventLog, service: Service) -> Consumer:
    holder: list[Consumer] = []

    def assign(partitions: Sequence[TopicPartition]) -> None:
        service.assigned(holder[0], partitions)

    def revoke(partitions: Sequence[TopicPartition]) -> None:
        _commit(holder[0], service.revoking(partitions))

    holder.append(log.consumer(service.group, service.topics, on_assign=assign, on_revoke=revoke))
    return holder[0]


def _leave(consumer: Consumer, service: Service) -> None:
    try:
        consumer.close()
    except Fenced:
        # another member has the partitions already: there is nothing left to hand back
        service.lost()


class Pace:
    """How many records a batch may have, so that it takes about BATCH_SECONDS and no longer; never more than `most`."""

    def __init__(self, most: int = POLL_RECORDS) -> None:
        self._most = most
        self.limit = min(FIRST_RECORDS, most)

    @contextmanager
    def over(self, records: int) -> Iterator[None]:
        """Takes in how long a batch of so many records takes, also one that fails."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.took(records, time.monotonic() - began)

    def took(self, records: int, seconds: float) -> None:
        """Takes in that a batch of so many records took so long."""
        fit = max(1, int(records * BATCH_SECONDS / max(seconds, 1e-6)))
        if seconds > BATCH_SECONDS:
            self.limit = min(self.limit, fit)
        elif records >= self.limit:
            # what a short batch says of a long one is little: it grows step by step
            self.limit = min(self._most, 2 * self.limit, max(self.limit, fit))


def _loop(consumer: Consumer, service: Service, orders: Orders, pace: Pace) -> None:
    quiet_since = time.monotonic()
    while not orders.stopped():
        batches = consumer.poll(pace.limit, POLL_SECONDS)
        if batches:
            with pace.over(sum(len(batch.records) for batch in batches)):
                offsets = service.handle(batches)
            _commit(consumer, offsets)
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > IDLE_SECONDS:
            _commit(consumer, service.idle())
            quiet_since = time.monotonic()
        orders.pulse(consumer.assignment())
        until = orders.until()
        if until is not None and isinstance(service, Drains):
            _commit(consumer, service.drain(until))


def _commit(consumer: Consumer, offsets: Mapping[TopicPartition, int]) -> None:
    if offsets:
        consumer.commit(offsets)
        fail_point("host.committed")
