"""The embedded host: polls, hands batches to a service, commits what it says. Thin, so that another can replace it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from engines.failpoints import fail_point
from engines.log import Consumer, EventLog, TopicPartition
from engines.service import Service
from schemas.errors import Fenced, Lost

POLL_RECORDS = 2_000
POLL_SECONDS = 0.05
IDLE_SECONDS = 0.5
RACES = 5


@runtime_checkable
class Drains(Protocol):
    """A service that does something when a bounded run's input has been read to its end."""

    def drain(self, until: Mapping[int, int]) -> Mapping[TopicPartition, int]:
        """Concludes what is read up to these offsets by partition. Returns what can be committed."""
        ...


class Orders(Protocol):
    """What the host is told from outside."""

    def stopped(self) -> bool:
        """Whether to finish and leave."""
        ...

    def until(self) -> Mapping[int, int] | None:
        """Where a bounded run's input ends, by partition, once that is known."""
        ...


def serve(log: EventLog, service: Service, orders: Orders, on_ready: Callable[[], None] = lambda: None) -> None:
    """Runs the service until it is told to stop. A member that lost its partitions, or a race too often, forgets what
    it holds and joins again. Raises what the service raises, after it has forgotten what it holds: what a failed batch
    left in memory must not be saved."""
    races = 0
    told = False
    while not orders.stopped():
        consumer = _join(log, service)
        if not told:
            on_ready()
            told = True
        try:
            _loop(consumer, service, orders)
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


def _loop(consumer: Consumer, service: Service, orders: Orders) -> None:
    quiet_since = time.monotonic()
    while not orders.stopped():
        batches = consumer.poll(POLL_RECORDS, POLL_SECONDS)
        if batches:
            _commit(consumer, service.handle(batches))
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > IDLE_SECONDS:
            _commit(consumer, service.idle())
            quiet_since = time.monotonic()
        until = orders.until()
        if until is not None and isinstance(service, Drains):
            _commit(consumer, service.drain(until))


def _commit(consumer: Consumer, offsets: Mapping[TopicPartition, int]) -> None:
    if offsets:
        consumer.commit(offsets)
        fail_point("host.committed")
