"""Bridge: from a topic that people already have to `observations`, as a service (`engines.service`).

Each record's value is one input, read as a line of a file would be, so that a log that is fed from a file and from a
topic is there once (I4). The topic's own keys and partitions do not matter: what is appended has its subject's key.
Offsets are committed once everything below them is on the tape, so after a crash some records are appended a second
time: with the same ids, and the detection workers count them as duplicates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from engines.failpoints import fail_point
from engines.log import Batch, Consumer, EventLog, NewRecord, TopicPartition
from engines.topics import OBSERVATIONS, QUARANTINE
from workers.feed.bridge_lanes import Lanes
from workers.feed.bridge_reading import Held, Reading, Unread, bridged
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.quarantine import new_record
from workers.feed.reader import NoRedaction, Redaction

PORTION = 2_000
"""At most so many records are appended at once,"""
PORTION_BYTES = 1024 * 1024
"""and about so many bytes of those that go to quarantine."""
ENDS_SECONDS = 1.0


def group_of(options: FeedOptions, topic: str) -> str:
    """The group that reads the topic for these options' tenant and kind. Two tenants that are given the same topic each
    get all of it; neither names nor kinds hold a colon."""
    return f"bridge-{options.tenant}:{topic}:{options.kind}"


class Bridge:
    """Reads `topic` of the log `source`, in `group`, by one set of options, and appends to `log`. `clock` gives
    microseconds, `monotonic` seconds. See `engines.service.Service`.

    `counts` are those of everything so far: read = appended + quarantined. `already_fed` stays 0: what was bridged
    before is not read again, but for what a crash left between append and commit, which counts as appended.

    Raises UsageError for options that do not fit a topic.
    """

    def __init__(
        self,
        source: EventLog,
        log: EventLog,
        topic: str,
        options: FeedOptions,
        clock: Callable[[], int],
        *,
        group: str | None = None,
        redaction: Redaction | None = None,
        secret: bytes | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        options = bridged(options, topic)
        self.topics: Sequence[str] = (topic,)
        self.group = group or group_of(options, topic)
        self.counts = FeedCounts()
        self._source = source
        self._log = log
        self._topic = topic
        self._reading = Reading(options, redaction or NoRedaction(), secret, clock)
        self._monotonic = monotonic
        self._lanes = Lanes()
        self._consumer: Consumer | None = None
        self._ends_due = 0.0

    def assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """It has got these."""
        self._consumer = consumer
        self._lanes.add(partitions)
        self._ends_due = 0.0

    def handle(self, batches: Sequence[Batch]) -> Mapping[TopicPartition, int]:
        """Reads all records, passes on what is due of them, and holds the rest. Raises EngineError."""
        for batch in batches:
            self._lanes.take(batch.at, self._reading.read(batch.at, list(batch.records)), batch.next_offset)
        return self._pass_on([batch.at for batch in batches])

    def idle(self) -> Mapping[TopicPartition, int]:
        """Passes on what nobody has to wait for any longer. Raises EngineError."""
        return self._pass_on([])

    def revoking(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Forgets what it holds of them: what was passed on is committed already, the rest is the next owner's."""
        self._lanes.drop(partitions)
        return {}

    def lost(self) -> None:
        """The same of all of them."""
        self._lanes.clear()
        self._consumer = None

    def _pass_on(self, came: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        now = self._monotonic()
        # who is the only one waits for nobody
        if len(self._lanes) > 1 and now >= self._ends_due:
            self._look_for_ends()
            self._ends_due = now + ENDS_SECONDS
        moved = set(came)
        portion = _Portion()
        for at, one in self._lanes.due(now):
            moved.add(at)
            portion.add(at, one)
            if portion.is_full:
                self._append(portion)
                portion = _Portion()
        self._append(portion)
        self._hold_back()
        return self._lanes.done(sorted(moved))

    def _append(self, portion: _Portion) -> None:
        if not portion.counts.read:
            return
        if portion.records:
            self._log.append(OBSERVATIONS, portion.records)
        fail_point("bridge.appended")
        if portion.unread:
            made = [self._reading.quarantined(at, offset, one) for at, offset, one in portion.unread]
            self._log.append(QUARANTINE, [new_record(one) for one in made])
        fail_point("bridge.quarantined")
        self.counts += portion.counts

    def _look_for_ends(self) -> None:
        reached: dict[int, int] = {}
        if self._lanes.unread:
            committed = self._source.committed(self.group, self._topic)
            oldest = self._source.start_offsets(self._topic)
            reached = {at: max(start, committed.get(at, start)) for at, start in oldest.items()}
        self._lanes.ends(self._source.end_offsets(self._topic), reached)

    def _hold_back(self) -> None:
        if self._consumer is None:
            return
        full, again = self._lanes.full()
        if full:
            self._consumer.pause(full)
        if again:
            self._consumer.resume(again)


class _Portion:
    """What is appended at once."""

    def __init__(self) -> None:
        self.records: list[NewRecord] = []
        self.unread: list[tuple[TopicPartition, int, Unread]] = []
        self._bytes = 0
        self._untimed = 0

    def add(self, at: TopicPartition, one: Held) -> None:
        """One more."""
        if one.record is not None:
            self.records.append(one.record)
            self._untimed += one.untimed
        elif one.unread is not None:
            self.unread.append((at, one.offset, one.unread))
            self._bytes += len(one.unread.data)

    @property
    def counts(self) -> FeedCounts:
        """Of what it holds."""
        appended, quarantined = len(self.records), len(self.unread)
        return FeedCounts(appended + quarantined, appended, 0, quarantined, self._untimed)

    @property
    def is_full(self) -> bool:
        """Whether it is to be appended."""
        return len(self.records) + len(self.unread) >= PORTION or self._bytes >= PORTION_BYTES
