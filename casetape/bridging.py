"""Bridging: `casetape feed --from-topic`, from the topic under its own name to the tape."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from casetape.run import now
from casetape.settings import Settings
from engines.engine import Engine
from engines.log import EventLog, TopicPartition
from engines.opening import EmbeddedOptions
from engines.topics import ALL
from schemas.errors import CasetapeError, UsageError
from workers.feed.bridge import Bridge, group_of
from workers.feed.bridge_reading import bridged
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.telling import timeless
from workers.runtime.host import serve

LOOK_SECONDS = 0.2
QUIET_SECONDS = 1.0
LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class Bridging:
    """What is bridged, and who hears of it. `wait(seconds)` returns as soon as it is told to stop, and whether it is
    (`Stop.wait`); `tell` gets sentences, `each` the counts so far. `until_end`: only up to where the topic ends now."""

    topic: str
    options: FeedOptions
    until_end: bool
    wait: Callable[[float], bool]
    tell: Callable[[str], None]
    each: Callable[[FeedCounts], None]


class Bridged(NamedTuple):
    """What came of it. `ended`: whether it was not stopped before the end that was asked for."""

    counts: FeedCounts
    ended: bool


def bridge(settings: Settings, engine: Engine, asked: Bridging) -> Bridged:
    """Bridges until it is told to stop, or to the end. What may pass (a broker that does not answer) is told and waited
    for, unless there is an end to come to. Raises UsageError for options that do not fit, or for a topic of casetape's
    own; UnknownTopic; and what the engine raises."""
    check_bridge(settings, asked.topic, asked.options)
    with _source(settings, engine) as source:
        source.partitions(asked.topic)
        group = _group(settings, asked)
        bridging = Bridge(source, engine.log, asked.topic, asked.options, now, group=group)
        end = End(source, group, asked.topic) if asked.until_end else None
        orders = _Orders(bridging, asked, end)
        asked.tell(_said(asked))
        if end is None:
            _keep_serving(source, bridging, orders, asked)
        else:
            serve(source, bridging, orders)
    if (said := timeless(asked.topic, bridging.counts)) is not None:
        asked.tell(said)
    return Bridged(bridging.counts, end is None or end.reached)


def check_bridge(settings: Settings, topic: str, options: FeedOptions) -> None:
    """Raises UsageError for options that do not fit, and for a topic of casetape's own: what lies there has its tenant,
    and would go round in circles."""
    bridged(options, topic)
    own = topic in ALL if settings.engine == "embedded" else topic.startswith(f"{settings.prefix}.")
    if own:
        raise UsageError(f"`{topic}` is a topic of casetape's own: bridged is what others write, under its full name")


class End:
    """Where a topic ended when it was asked first, and whether its group has come as far."""

    def __init__(self, source: EventLog, group: str, topic: str) -> None:
        self.reached = False
        self._source = source
        self._group = group
        self._topic = topic
        starts = source.start_offsets(topic)
        self._left = {at: end for at, end in source.end_offsets(topic).items() if end > starts.get(at, 0)}

    def look(self, *, quiet: bool) -> bool:
        """Whether all of it is done. Where it has been `quiet`, what is not committed is looked for: the last offsets
        before an end may hold no record (the marks of transactions, or what retention has deleted meanwhile)."""
        committed = self._source.committed(self._group, self._topic)
        self._left = {at: end for at, end in self._left.items() if committed.get(at, 0) < end}
        if quiet:
            self._left = {at: end for at, end in self._left.items() if self._more(at, committed.get(at, 0), end)}
        self.reached = not self._left
        return self.reached

    def _more(self, partition: int, start: int, end: int) -> bool:
        found = self._source.read(TopicPartition(self._topic, partition), start, 1)
        return bool(found) and found[0].offset < end


class _Orders:
    """When the host stops. See `workers.runtime.host.Orders`."""

    def __init__(self, bridging: Bridge, asked: Bridging, end: End | None) -> None:
        self._bridging = bridging
        self._asked = asked
        self._end = end
        self._look_due = 0.0
        self._read = 0
        self._read_at = time.monotonic()

    def stopped(self) -> bool:
        """When it is told to, or the end is reached."""
        return self._asked.wait(0.0) or (self._end is not None and self._at(self._end))

    def until(self) -> Mapping[int, int] | None:
        """Nothing is concluded at an end."""
        return None

    def pulse(self, owned: Collection[TopicPartition]) -> None:
        """Tells the counts."""
        self._asked.each(self._bridging.counts)

    def _at(self, end: End) -> bool:
        moment, read = time.monotonic(), self._bridging.counts.read
        if read != self._read:
            self._read, self._read_at = read, moment
        if not end.reached and moment >= self._look_due:
            quiet = moment - self._read_at >= QUIET_SECONDS
            self._look_due = moment + (QUIET_SECONDS if quiet else LOOK_SECONDS)
            end.look(quiet=quiet)
        return end.reached


def _keep_serving(source: EventLog, bridging: Bridge, orders: _Orders, asked: Bridging) -> None:
    pause, before = 0.0, FeedCounts()
    while not asked.wait(0.0):
        try:
            serve(source, bridging, orders)
        except CasetapeError as error:
            if not error.retriable:
                raise
            pause = 1.0 if bridging.counts != before else min(LONGEST_PAUSE, pause * 2 or 1.0)
            before = bridging.counts
            asked.tell(f"{error} It is tried again in {pause:g} s.")
            asked.wait(pause)


@contextmanager
def _source(settings: Settings, engine: Engine) -> Iterator[EventLog]:
    """The log on which topics have their full names."""
    options = settings.engine_options()
    if isinstance(options, EmbeddedOptions):
        yield engine.log
        return
    # its client takes a while to import, which whoever has one machine need not wait for
    from engines.kafka import open_log

    source = open_log(replace(options.kafka, prefix=""), session_seconds=settings.session)
    try:
        yield source
    finally:
        source.close()


def _group(settings: Settings, asked: Bridging) -> str:
    group = group_of(asked.options, asked.topic)
    # there is no prefix on that log, and two installations must not share a group
    return group if settings.engine == "embedded" else f"{settings.prefix}.{group}"


def _said(asked: Bridging) -> str:
    how = "up to where it ends now" if asked.until_end else "Ctrl-C ends it"
    return f"bridging topic {asked.topic} to tenant {asked.options.tenant}: {how}"
