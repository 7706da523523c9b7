"""What the host knows of its partitions and makes durable. All of it happens in one thread, which may block: never the
event loop's.

Durable order: results to `versions`, bad records and faults to `quarantine`, then the partition's manifest, and only
then is a record acknowledged. The mark that keeps a detector from being asked twice is the partition's seen filter of
observation ids, saved with the manifest (which names detectors, versions and parameters): exact, some bytes an id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from engines.engine import Engine
from engines.failpoints import fail_point
from engines.log import TopicPartition
from engines.topics import OBSERVATIONS
from schemas.errors import InputError
from schemas.scales import HOUR
from workers.asynchronous.line import Line, Slot
from workers.detection.intake import event_time, taken_in
from workers.detection.looking import Outcome, Taken
from workers.detection.partition import Terms
from workers.detection.plugin import Detector
from workers.detection.publishing import Publisher, author_of
from workers.detection.quarantining import bad_record
from workers.detection.takeover import take_over

PRUNE_SECONDS = 3600.0
"""So often ids beyond the horizon are forgotten."""
_NO_WINDOWS = 0


class Keeper:
    """Keeps the partitions of one group member. `clock` gives microseconds."""

    def __init__(
        self,
        engine: Engine,
        detectors: Sequence[Detector],
        group: str,
        secret: bytes | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self._engine, self._detectors, self._group = engine, detectors, group
        self._secret, self._clock = secret, clock
        self._publisher = Publisher(engine.log, engine.store, author_of(detectors), clock, secret)
        self._pruned_at = time.monotonic()

    def take_over(self, partitions: Sequence[TopicPartition]) -> Sequence[Line]:
        """Loads and claims these partitions. Each is read on from where its manifest ends, or from the group's commit
        where the store has lost the manifest: what was committed is on the tape for good."""
        log = self._engine.log
        starts, ends = log.start_offsets(OBSERVATIONS), log.end_offsets(OBSERVATIONS)
        committed = log.committed(self._group, OBSERVATIONS)
        terms = Terms(_NO_WINDOWS, HOUR, lambda: None)
        lines = []
        for at in partitions:
            start = max(starts[at.partition], min(committed.get(at.partition, 0), ends[at.partition]))
            held = take_over(self._engine.store, self._group, at, self._detectors, start, partial(self._end, at), terms)
            lines.append(Line(at, held))
            fail_point("async.assigned")
        return lines

    def _end(self, at: TopicPartition) -> int:
        return self._engine.log.end_offsets(at.topic)[at.partition]

    def follows(self, at: TopicPartition, offset: int, found: int) -> bool:
        """Whether the record at `found` is the first one kept from `offset` on: nobody has skipped any in between."""
        records = self._engine.log.read(at, offset, 1)
        return bool(records) and records[0].offset == found

    def take_in(self, line: Line, slots: Sequence[Slot]) -> None:
        """Reads records of the line, in their order: which are new observations, and which are bad."""
        for slot in slots:
            record = slot.record
            observation = taken_in(record, self._secret)
            if isinstance(observation, InputError):
                slot.quarantined = True
                made = bad_record(record, line.at, observation, self._group, self._clock())
                slot.outcome.quarantine.append(made)
                continue
            raw = bytes.fromhex(observation.id[4:])
            if line.held.seen.new([raw])[0]:
                line.unsaved.add(raw)
                slot.taken = Taken(record.offset, record.value, raw, record.key, record.appended_at, observation)

    def save(self, finished: Sequence[tuple[Line, Sequence[Slot]]]) -> None:
        """Makes durable what these records brought, each line's from its front on. Raises Fenced where a later owner
        has a partition: nothing of it counts then; and what the engine raises."""
        outcomes = []
        for line, slots in finished:
            outcome = Outcome()
            for slot in slots:
                outcome.take(slot.outcome)
            outcomes.append((line.at, outcome))
        fail_point("async.looked")
        self._publisher.publish(outcomes)
        fail_point("async.published")
        prune = time.monotonic() - self._pruned_at > PRUNE_SECONDS
        for (line, slots), (_, outcome) in zip(finished, outcomes, strict=True):
            _count(line, slots, outcome.faults)
            seen = line.held.seen
            # what is still under way must not be in the filter that is saved: it comes again after a crash
            seen.fresh -= line.unsaved
            line.held.save(prune=prune)
            seen.fresh |= line.unsaved
            fail_point("async.saved")
        self._pruned_at = time.monotonic() if prune else self._pruned_at

    def waiting(self, lines: Sequence[Line]) -> int:
        """How many records of these partitions are not saved."""
        ends = self._engine.log.end_offsets(OBSERVATIONS) if lines else {}
        return sum(max(0, ends[line.at.partition] - line.held.saved) for line in lines)


def _count(line: Line, slots: Sequence[Slot], faults: int) -> None:
    held, counts = line.held, line.held.counts
    for slot in slots:
        counts.consumed += 1
        if slot.quarantined:
            counts.quarantined += 1
        elif slot.taken is None:
            counts.duplicate += 1
        else:
            counts.new += 1
            counts.untimed += event_time(slot.taken.observation) is None
            line.unsaved.discard(slot.taken.raw)
        held.heard = max(held.heard, slot.record.appended_at)
    counts.faults += faults
    held.offset = slots[-1].record.offset + 1
    held.seen.saw(held.heard)
