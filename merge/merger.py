"""The merger: takes branch versions off the tape, commits merged versions, and publishes them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from engines.failpoints import fail_point
from engines.log import Batch, Consumer, EventLog, LogRecord, NewRecord, TopicPartition
from engines.store import Head, StateStore, StoredVersion
from engines.topics import QUARANTINE, VERSIONS
from merge.branches import Branch, SecretOf, no_secrets, read_branch
from merge.cache import SummaryCache
from merge.outbox import publish
from merge.plan import Maker, Plan, plan
from merge.policies.registry import WORST, BoundPolicy, PolicyOf
from merge.reading import load_summary
from merge.summary import Summary, empty
from merge.tape import MERGER
from schemas.errors import InputError, Lost
from schemas.keys import DEFAULT_TENANT, CaseKey, valid_tenant
from schemas.quarantined import Quarantined, Source, quarantined
from schemas.version import Author

AUTHOR = Author(kind="merger", name=MERGER)
ATTEMPTS = 50
"""Races a case may lose in one batch before the batch is handed back."""
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
"""Seconds: a pause is drawn between 0 and a limit that doubles from the first to the longest."""
SWEEP = 256
"""Cases per look for what was committed and not published."""


@dataclass(frozen=True, slots=True)
class MergerStats:
    """Counted since the start: branch versions taken in (repeats too), merged versions committed, branch versions that
    added nothing, records quarantined, races lost, records appended to `states`."""

    branches: int = 0
    versions: int = 0
    nothing_new: int = 0
    quarantined: int = 0
    lost_races: int = 0
    published: int = 0


def _worst_of(tenant: str, subject: str) -> BoundPolicy:
    return WORST


def _now() -> int:
    return time.time_ns() // 1000


class Merger:
    """An `engines.service.Service`. `policy_of` says which policy a case gets, `now` the time in microseconds."""

    group = MERGER
    topics: Sequence[str] = (VERSIONS,)
    poll_records = 10_000
    """The more branches of one case come at once, the fewer versions they make."""

    def __init__(
        self,
        log: EventLog,
        store: StateStore,
        policy_of: PolicyOf = _worst_of,
        *,
        secret_of: SecretOf = no_secrets,
        author: Author = AUTHOR,
        now: Callable[[], int] = _now,
        cache: SummaryCache | None = None,
    ) -> None:
        self._log = log
        self._store = store
        self._policy_of = policy_of
        self._secret_of = secret_of
        self._author = author
        self._now = now
        self._cache = SummaryCache() if cache is None else cache
        self.stats = MergerStats()

    def assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Publishes what an earlier merger committed and did not get to publish."""
        self._sweep()

    def revoking(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Nothing is held back between batches."""
        return {}

    def lost(self) -> None:
        """Forgets the cases: others write them now."""
        self._cache.clear()

    def idle(self) -> Mapping[TopicPartition, int]:
        """Publishes what another merger left behind."""
        self._sweep()
        return {}

    def handle(self, batches: Sequence[Batch]) -> Mapping[TopicPartition, int]:
        """Merges all records of `versions`. On return each branch is in its case and the case's versions in `states`,
        or it is in quarantine. Raises Lost (retriable) where other writers were first too often, and EngineErrors."""
        fail_point("merger.polled")
        cases: dict[str, list[Branch]] = {}
        bad: list[Quarantined] = []
        for batch in batches:
            for record in batch.records:
                try:
                    branch = read_branch(record, self._secret_of)
                except InputError as error:
                    bad.append(self._quarantined(batch.at, record, error))
                else:
                    cases.setdefault(record.key, []).append(branch)
        if bad:
            self._log.append(QUARANTINE, [NewRecord(one.tenant, one.encode()) for one in bad])
            fail_point("merger.quarantined")
        self._count(branches=sum(map(len, cases.values())), quarantined=len(bad))
        self._merge(cases)
        fail_point("merger.marked")
        return {batch.at: batch.next_offset for batch in batches}

    def _merge(self, cases: dict[str, list[Branch]]) -> None:
        waiting = cases
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)))  # noqa: S311 - no secret
            waiting = self._round(waiting)
            if not waiting:
                return
            self._count(lost_races=len(waiting))
        raise Lost(f"other writers moved {len(waiting)} cases first, {ATTEMPTS} times in a row")

    def _round(self, cases: dict[str, list[Branch]]) -> dict[str, list[Branch]]:
        """Tries every case once and publishes. Returns the cases whose race was lost."""
        heads = self._store.heads(list(cases))
        # after the heads: what a head does not hold yet may be known by now, never the other way round
        known = self._known({case: branches for case, branches in cases.items() if case in heads})
        plans: dict[str, Plan] = {}
        numbers: dict[str, int] = {}
        idle = 0
        for case, branches in cases.items():
            planned = self._plan(case, branches, heads.get(case), known.get(case, set()))
            if planned is not None:
                plans[case] = planned
            else:
                idle += len(branches)
                numbers[case] = heads[case].number if case in heads else 0
        fail_point("merger.planned")
        done = self._store.commit([one.commit for one in plans.values()]) if plans else []
        if any(done):
            fail_point("merger.committed")
        ready: dict[str, Sequence[StoredVersion]] = {}
        made = 0
        for (case, planned), won in zip(plans.items(), done, strict=True):
            if won:
                self._won(case, planned)
                made += len(planned.versions)
                idle += len(cases[case]) - len(planned.taken)
                numbers[case] = planned.summary.number
                ready[case] = planned.commit.versions
        self._count(versions=made, nothing_new=idle)
        self._count(published=publish(self._store, self._log, numbers, ready))
        return {case: branches for case, branches in cases.items() if case not in numbers}

    def _known(self, cases: Mapping[str, Sequence[Branch]]) -> Mapping[str, Set[str]]:
        ids = {case: list({one.id for each in branches for one in each.contents}) for case, branches in cases.items()}
        return self._store.known_by_case(ids) if ids else {}

    def _plan(self, case: str, branches: Sequence[Branch], head: Head | None, known: Set[str]) -> Plan | None:
        key = branches[0].case
        secret = self._secret_of(key.tenant)
        summary = self._summary(case, key, head, secret)
        maker = Maker(self._policy_of(key.tenant, key.subject), self._author, self._now(), secret)
        return plan(key, summary, branches, known, maker)

    def _summary(self, case: str, key: CaseKey, head: Head | None, secret: bytes | None) -> Summary:
        if head is None:
            return empty(key.tenant, key.subject, secret)
        cached = self._cache.get(case)
        if cached is not None and cached.head == head:
            return cached
        loaded = load_summary(self._store, case, head.number, base=cached, log=self._log, secret=secret)
        self._cache.put(case, loaded)
        return loaded

    def _won(self, case: str, planned: Plan) -> None:
        summary = planned.summary
        if planned.commit.snapshot is not None:
            summary = replace(summary, snapshot=summary.number)
        self._cache.put(case, summary)

    def _sweep(self) -> None:
        """Until no case is behind its mark; one that stays behind was moved on by someone else meanwhile."""
        seen: set[str] = set()
        while True:
            behind = [case for case in self._store.unpublished(SWEEP) if case not in seen]
            if not behind:
                return
            seen.update(behind)
            heads = {case: head.number for case, head in self._store.heads(behind).items()}
            self._count(published=publish(self._store, self._log, heads))

    def _quarantined(self, at: TopicPartition, record: LogRecord, error: InputError) -> Quarantined:
        tenant, _, _ = record.key.partition("/")
        return quarantined(
            tenant if valid_tenant(tenant) else DEFAULT_TENANT,
            "record",
            error.code,
            f"{at.topic}[{at.partition}] offset {record.offset}: {error}",
            record.value,
            Source(topic=at.topic, partition=at.partition, offset=record.offset),
            author=MERGER,
            at=self._now(),
        )

    def _count(self, **more: int) -> None:
        self.stats = replace(self.stats, **{name: getattr(self.stats, name) + one for name, one in more.items()})
