"""Making the store anew from `states`: same numbers, same ids (I1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from engines.engine import Engine
from engines.log import LogRecord, TopicPartition
from engines.store import Commit, Move, StoredVersion
from engines.topics import STATES
from merge.branches import SecretOf, no_secrets
from merge.contents import carried, parted, read_stored
from merge.highwater import new_epoch
from merge.plan import row_of
from merge.summary import Summary, advance, empty, moved, snapshot_due, snapshot_of
from merge.tape import PAGE, records
from schemas.errors import EngineError, InputError
from schemas.keys import parse_case
from schemas.version import StateVersion

UNDERWAY = "the store is being made anew: wait for `casetape rebuild` to end, or run it again where it was stopped"
DROPPED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did: records of `states` read, versions put into the store, of how many cases; `repeats` are
    records that say again what an earlier one said."""

    records: int = 0
    versions: int = 0
    repeats: int = 0
    cases: int = 0


def rebuild(
    engine: Engine, *, secret_of: SecretOf = no_secrets, on_progress: Callable[[Rebuilt], None] = lambda so_far: None
) -> Rebuilt:
    """Drops all cases from the store and puts those of `states` there, with every version, snapshot, mark and place.
    The store is refused to everyone else meanwhile, and has a new epoch afterwards, so that whoever worked on the old
    one notices. Windows and notes stay as they are: a worker goes on from its snapshot, or from the oldest observation
    where it finds none.

    Raises EngineError where `states` lacks a version or holds two that differ under one number.
    """
    store = engine.store
    store.refuse(UNDERWAY)
    while dropped := [row.key for row in store.cases(None, order="key", limit=DROPPED_AT_ONCE)]:
        store.drop(dropped)
    total = Rebuilt()
    for partition, end in engine.log.end_offsets(STATES).items():
        making = _Partition(engine, secret_of)
        for page in _pages(records(engine.log, TopicPartition(STATES, partition), end)):
            making.take(page)
            on_progress(_sum(total, making.done))
        total = _sum(total, making.done)
    store.begin(new_epoch(), anew=True)
    store.refuse(None)
    return total


def _pages(found: Iterable[LogRecord]) -> Iterator[list[LogRecord]]:
    page: list[LogRecord] = []
    for record in found:
        page.append(record)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


class _Partition:
    """The cases of one partition, as far as they are made."""

    def __init__(self, engine: Engine, secret_of: SecretOf) -> None:
        self._engine = engine
        self._secret_of = secret_of
        self._summaries: dict[str, Summary] = {}
        self.done = Rebuilt()

    def take(self, page: Iterable[LogRecord]) -> None:
        """Puts what these records hold into the store."""
        fresh: dict[str, list[tuple[int, StoredVersion]]] = {}
        count = repeats = 0
        for record in page:
            count += 1
            stored = self._stored(record)
            held = fresh.setdefault(record.key, [])
            last = held[-1][1].number if held else self._summary(record.key).number
            if stored.number <= last:
                self._same(record, stored, [one for _, one in held])
                repeats += 1
                continue
            if stored.number != last + 1:
                raise EngineError(f"`{STATES}` lacks version {last + 1} of `{record.key}`: it cannot be made anew")
            held.append((record.offset, stored))
        work = {case: held for case, held in fresh.items() if held}
        self._put(work)
        self.done = Rebuilt(
            self.done.records + count,
            self.done.versions + sum(map(len, work.values())),
            self.done.repeats + repeats,
            len(self._summaries),
        )

    def _stored(self, record: LogRecord) -> StoredVersion:
        try:
            return parted(record.value)
        except InputError as error:
            raise EngineError(f"`{STATES}` offset {record.offset}: {error}") from error

    def _same(self, record: LogRecord, stored: StoredVersion, fresh: Iterable[StoredVersion]) -> None:
        before = next((one for one in fresh if one.number == stored.number), None)
        if before is None:
            (before,) = self._engine.store.versions(record.key, stored.number, stored.number)
        if before.id != stored.id:
            raise EngineError(
                f"`{STATES}` offset {record.offset} holds another version {stored.number} of `{record.key}` than an"
                " earlier record: it cannot be made anew"
            )

    def _put(self, work: dict[str, list[tuple[int, StoredVersion]]]) -> None:
        store = self._engine.store
        commits, moves = [], []
        for case, held in work.items():
            before = self._summary(case)
            commits.append(self._commit(case, before, [stored for _, stored in held]))
            places = {stored.number: offset for offset, stored in held}
            moves.append(Move(case, before.number, held[-1][1].number, places))
        if commits and not all(store.commit(commits)):
            raise EngineError("another writer was at work on the store while it was made anew: run it again")
        if moves:
            store.move_published(moves)

    def _commit(self, case: str, before: Summary, held: list[StoredVersion]) -> Commit:
        summary, snapshot = before, None
        version: StateVersion | None = None
        for stored in held:
            version = StateVersion.parse(stored.record)
            if version.header.parents[:1] != (summary.id,):
                raise EngineError(f"version {version.number} of `{case}` in `{STATES}` stands on no version before it")
            bodies = {one.id: one.body for one in stored.contents}
            read = (read_stored(one, bodies[one]) for one in carried(version) if one in bodies)
            grown = advance(summary, [one for one in read if one is not None])
            summary = moved(grown, version.number, version.id, version.header.at)
            if snapshot_due(summary):
                snapshot, summary = snapshot_of(summary), replace(summary, snapshot=summary.number)
        assert version is not None, "a case is only put where it has versions"  # noqa: S101 - for the type checker
        self._summaries[case] = summary
        return Commit(case, before.head, tuple(held), row_of(version, len(summary.current)), snapshot)

    def _summary(self, case: str) -> Summary:
        found = self._summaries.get(case)
        if found is None:
            key = parse_case(case)
            found = empty(*key, self._secret_of(key[0]))
            self._summaries[case] = found
        return found


def _sum(one: Rebuilt, other: Rebuilt) -> Rebuilt:
    return Rebuilt(
        one.records + other.records,
        one.versions + other.versions,
        one.repeats + other.repeats,
        one.cases + other.cases,
    )
