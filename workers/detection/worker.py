"""The detection worker: a service that reads observations and publishes branch versions.

Durable order: results to `versions`, bad records to `quarantine`, then the snapshot, then the offsets. A kill anywhere
repeats work and changes nothing: ids are digests of content, and records below a snapshot's offset are not seen again.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from engines.failpoints import fail_point
from engines.log import Batch, Consumer, EventLog, LogRecord, TopicPartition
from engines.store import StateStore
from engines.topics import OBSERVATIONS
from schemas.errors import InputError
from workers.detection.calling import Calling
from workers.detection.closing import close, conclude_early, conclude_for_good, count, drain, fallen_silent
from workers.detection.guard import Guard
from workers.detection.intake import event_time, taken_in
from workers.detection.looking import Looking, Outcome, Taken
from workers.detection.options import WorkerOptions, shipped
from workers.detection.partition import Partition, Terms
from workers.detection.plugin import Detector
from workers.detection.publishing import Publisher, author_of
from workers.detection.quarantining import bad_record
from workers.detection.snapshot import Clock, Counts
from workers.detection.takeover import take_over
from workers.detection.window import WindowState
from workers.detection.windowed import WindowedDetector

__all__ = ["DetectionWorker", "WorkerOptions", "shipped"]

_KINDS = 1_000
"""Kinds come with the records: of no more than these it is remembered who wants them."""
_CONCLUDED_AT_ONCE = 500
"""Results of a drain are published after so many cases, so that they do not pile up."""
_BEAT_SECONDS = 1.0


class DetectionWorker:
    """Hosts a set of detectors on the partitions it is assigned."""

    def __init__(
        self,
        log: EventLog,
        store: StateStore,
        detectors: Sequence[Detector],
        options: WorkerOptions,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self.group = f"detect-{options.detectors_name}"
        self.topics: Sequence[str] = (OBSERVATIONS,)
        self.owned: dict[TopicPartition, Partition] = {}
        self._log, self._store, self._options, self._clock = log, store, options, clock
        self._detectors = list(detectors)
        self._single = [one for one in detectors if not isinstance(one, WindowedDetector)]
        self._by_kind: dict[tuple[TopicPartition, str], list[tuple[WindowState, bool]]] = {}
        self._publisher = Publisher(log, store, author_of(detectors), clock, options.secret)
        self._consumer: Consumer | None = None
        self._guard = Guard(options.call_seconds, self._beat, Calling(options.calling), options.suspects)
        self._saved_at = self._beat_at = time.monotonic()

    def assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Loads and claims these partitions, and reads on where their snapshots end."""
        self._consumer = consumer
        starts = self._log.start_offsets(OBSERVATIONS)
        windows = len(starts) * (len(self._detectors) - len(self._single))
        terms = Terms(self._options.window_bytes // max(1, windows), self._options.lateness, self._beat)
        for at in partitions:
            owned = take_over(
                self._store,
                self.group,
                at,
                self._detectors,
                starts[at.partition],
                partial(self._end, at.partition),
                terms,
                replay=self._options.replay,
            )
            if not self._options.bounded:
                for window in owned.windows:
                    window.watch(owned.closed)
            self.owned[at] = owned
            consumer.seek(at, owned.offset)
            fail_point("worker.assigned")

    def _end(self, partition: int) -> int:
        return self._log.end_offsets(OBSERVATIONS)[partition]

    def handle(self, batches: Sequence[Batch]) -> Mapping[TopicPartition, int]:
        """Looks at all records, publishes what they bring, and snapshots when it is time."""
        looking = self._looking()
        outcomes = [(batch.at, self._look(batch, looking)) for batch in batches]
        fail_point("worker.looked")
        self._publisher.publish(outcomes)
        return self._save_when_due()

    def idle(self) -> Mapping[TopicPartition, int]:
        """Concludes the windows of silent sources early, and snapshots what is not saved yet."""
        # a store that was lost, or made anew, is noticed also while nothing comes
        self._store.heads(())
        if self._options.bounded:
            return self._save(self.owned.values())
        for owned in self.owned.values():
            self._conclude_silent(owned)
        return self._save(self.owned.values()) if self._late(self._options.idle_seconds) else {}

    def revoking(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Saves these partitions and lets them go."""
        gone = [self.owned.pop(at) for at in partitions if at in self.owned]
        self._by_kind.clear()
        return self._save(gone)

    def lost(self) -> None:
        """Forgets everything it holds: what is saved is what counts."""
        self.owned.clear()
        self._by_kind.clear()

    def drain(self, until: Mapping[int, int]) -> Mapping[TopicPartition, int]:
        """In a bounded run whose input ends at these offsets by partition: concludes every owned partition that has
        been read to its end and was not concluded up to there yet."""
        done: list[Partition] = []
        for at, owned in self.owned.items():
            end = until.get(at.partition, 0)
            if owned.offset >= end > owned.concluded:
                self._conclude_all(owned)
                owned.concluded = end
                fail_point("worker.concluded")
                owned.forget(owned.silent())
                owned.save(prune=True)
                done.append(owned)
        return {owned.at: owned.saved for owned in done}

    def _looking(self) -> Looking:
        return Looking(self._clock(), self._guard, self._options.secret)

    def _look(self, batch: Batch, looking: Looking) -> Outcome:
        owned = self.owned[batch.at]
        outcome = Outcome()
        records = [record for record in batch.records if record.offset >= owned.offset]
        again = bisect_left(records, owned.counted, key=lambda record: record.offset)
        for some, counts in ((records[:again], Counts()), (records[again:], owned.counts)):
            if some:
                self._look_at(owned, some, counts, looking, outcome)
        owned.counts.faults += outcome.faults
        owned.offset = max(owned.offset, batch.next_offset)
        return outcome

    def _look_at(
        self, owned: Partition, records: Sequence[LogRecord], counts: Counts, looking: Looking, outcome: Outcome
    ) -> None:
        taken: list[Taken] = []
        for record in records:
            observation = taken_in(record, self._options.secret)
            if isinstance(observation, InputError):
                made = bad_record(record, owned.at, observation, self.group, looking.now)
                outcome.quarantine.append(made)
                continue
            raw = bytes.fromhex(observation.id[4:])
            taken.append(Taken(record.offset, record.value, raw, record.key, record.appended_at, observation))
        owned.heard = max(owned.heard, records[-1].appended_at)
        owned.seen.saw(owned.heard)
        new = owned.seen.new([one.raw for one in taken])
        fresh = [one for one, first in zip(taken, new, strict=True) if first]
        counts.consumed += len(records)
        counts.quarantined += len(records) - len(taken)
        counts.duplicate += len(taken) - len(fresh)
        counts.new += len(fresh)
        self._windowed(owned, fresh, counts, looking, outcome)
        self._one_by_one(fresh, looking, outcome)

    def _windowed(
        self, owned: Partition, fresh: Sequence[Taken], counts: Counts, looking: Looking, outcome: Outcome
    ) -> None:
        bounded, lateness = self._options.bounded, self._options.lateness
        clocks = owned.clocks
        for one in fresh:
            at = event_time(one.observation)
            if at is None:
                counts.untimed += 1
                continue
            case = one.case
            clock = clocks.get(case)
            if clock is None:
                clocks[case] = Clock(at, one.heard)
            else:
                clock.heard, clock.quiet = one.heard, False
                if at > clock.at:
                    if not bounded:
                        close(owned, case, clock.at - lateness, at - lateness, looking, outcome)
                    clock.at = at
                elif not bounded and at < clock.at - lateness:
                    counts.late += 1
            for window, trusted in self._windows(owned, one.observation.kind):
                keys = looking.measured(window, one, at, outcome, trusted=trusted)
                if window.tally is not None:
                    for key in keys:
                        count(owned, window, window.tally, (case, key), at, looking, outcome)

    def _one_by_one(self, fresh: Sequence[Taken], looking: Looking, outcome: Outcome) -> None:
        kinds = {one.observation.kind for one in fresh}
        for detector in self._single:
            wanted = {kind for kind in kinds if detector.wants(kind)}
            if wanted:
                shown = [one for one in fresh if one.observation.kind in wanted]
                looking.at_each(detector, shown, outcome, trusted=self._options.trusted(detector))

    def _windows(self, owned: Partition, kind: str) -> list[tuple[WindowState, bool]]:
        found = self._by_kind.get((owned.at, kind))
        if found is None:
            if len(self._by_kind) >= _KINDS:
                self._by_kind.clear()
            trusted = self._options.trusted
            found = [(one, trusted(one.detector)) for one in owned.windows if one.detector.wants(kind)]
            self._by_kind[owned.at, kind] = found
        return found

    def _conclude_silent(self, owned: Partition) -> None:
        looking = self._looking()
        cases = fallen_silent(owned, self._options.silence, looking.now)
        if not cases:
            return
        outcome = Outcome()
        conclude_early(owned, cases, looking, outcome)
        owned.counts.faults += outcome.faults
        # saved before it is said: what was said early must be known, or nobody could take it back
        owned.save()
        self._publisher.publish([(owned.at, outcome)])
        for case in cases:
            owned.clocks[case].quiet = owned.touched = True

    def _conclude_all(self, owned: Partition) -> None:
        looking = self._looking()
        for window in owned.windows:
            outcome = Outcome()
            for due in window.drained():
                drain(owned, window, due, looking, outcome)
                if len(outcome.results) > _CONCLUDED_AT_ONCE:
                    self._said(owned, outcome)
                    outcome = Outcome()
            self._said(owned, outcome)
            window.concluded = owned.offset

    def _said(self, owned: Partition, outcome: Outcome) -> None:
        """Publishes what a drain says, after it was saved that it says so: a later run could not take back what a kill
        in between had made it forget."""
        if outcome.results:
            owned.save()
        self._published(owned, outcome)

    def _published(self, owned: Partition, outcome: Outcome) -> None:
        self._publisher.publish([(owned.at, outcome)])
        owned.counts.faults += outcome.faults

    def _save_when_due(self) -> Mapping[TopicPartition, int]:
        options = self._options
        windows = [window for owned in self.owned.values() for window in owned.windows]
        if sum(window.table.size for window in windows) > options.window_bytes:
            offsets = self._save(self.owned.values())
            for window in windows:
                window.spill()
            return offsets
        due = min(max(options.snapshot_records, sum(len(window.table) for window in windows)), options.snapshot_most)
        late = not options.bounded and self._late(options.snapshot_seconds)
        return self._save(self.owned.values()) if late or self._unsaved() >= due else {}

    def _late(self, seconds: float) -> bool:
        return time.monotonic() - self._saved_at > seconds

    def _save(self, partitions: Iterable[Partition]) -> Mapping[TopicPartition, int]:
        saved = [owned for owned in partitions if owned.offset > owned.saved or owned.touched]
        for owned in saved:
            prune = not self._options.bounded and owned.overgrown()
            if prune:
                self._forget_silent(owned)
            owned.save(prune=prune)
            self._beat()
        self._saved_at = time.monotonic()
        return {owned.at: owned.saved for owned in saved}

    def _forget_silent(self, owned: Partition) -> None:
        cases = owned.silent()
        outcome = Outcome()
        conclude_for_good(owned, cases, self._looking(), outcome)
        self._published(owned, outcome)
        owned.forget(cases)

    def _unsaved(self) -> int:
        return sum(owned.offset - owned.saved for owned in self.owned.values())

    def _beat(self) -> None:
        now = time.monotonic()
        if self._consumer is not None and now - self._beat_at > _BEAT_SECONDS:
            self._beat_at = now
            self._consumer.heartbeat()
