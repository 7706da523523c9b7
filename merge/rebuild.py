"""Making the store anew from `states`: same numbers, same ids (I1).

A tape that several wrote on may hold what is on no line: a merger that was frozen while the store was lost, or made
anew, wakes and publishes versions under numbers that others have given meanwhile. So a version is taken where it stands
on the head of what was taken before, in the order of the log; everything else is left out, and what it brought is
merged again from `versions`, which has all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from engines.engine import Engine
from engines.log import LogRecord, TopicPartition
from engines.partitioner import partition_of
from engines.store import Commit, Move, Snapshot, StoredVersion
from engines.topics import STATES
from merge.branches import SecretOf, no_secrets
from merge.contents import carried, parted, read_stored
from merge.highwater import new_epoch
from merge.plan import row_of
from merge.summary import Summary, advance, empty, moved, snapshot_due, snapshot_of
from merge.tape import MERGER, PAGE, records
from schemas.errors import EngineError, InputError
from schemas.keys import parse_case
from schemas.version import StateVersion

UNDERWAY = "the store is being made anew: where no `casetape rebuild` is at work any more, run it again"
DROPPED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did: records of `states`, versions put into the store, of how many cases. `repeats` say again what
    a version of the line says; `left_out` stand on no line, or are no versions. records = versions + repeats +
    left_out."""

    records: int = 0
    versions: int = 0
    repeats: int = 0
    left_out: int = 0
    cases: int = 0


def rebuild(
    engine: Engine, *, secret_of: SecretOf = no_secrets, on_progress: Callable[[int], None] = lambda versions: None
) -> Rebuilt:
    """Drops all cases from the store and puts those of `states` there, with every version, snapshot, mark and place.
    The store is refused to everyone else meanwhile, and has a new epoch afterwards, so that whoever worked on the old
    one notices. Windows and notes stay as they are: a worker goes on from its snapshot, or from the oldest observation
    where it finds none. Where anything was left out, the mergers begin anew with `versions`. `on_progress` gets how
    many versions the store has.

    Raises EngineError where others work on the store, or make it anew, meanwhile.
    """
    store = engine.store
    store.refuse(UNDERWAY)
    while dropped := [row.key for row in store.cases(None, order="key", limit=DROPPED_AT_ONCE)]:
        store.drop(dropped)
    making = _Making(engine, secret_of)
    counts = _Counts()
    taken = -1
    # a case may have versions in two partitions, where a topic was given more of them: the later ones wait for the next
    # pass
    while (counts.left_out or taken < 0) and making.versions != taken:
        taken, counts = making.versions, _Counts()
        for partition, end in engine.log.end_offsets(STATES).items():
            at = TopicPartition(STATES, partition)
            for page in _pages(records(engine.log, at, end)):
                making.take(at, page, counts)
                on_progress(making.versions)
    if counts.left_out:
        engine.log.forget_group(MERGER)
    if not store.begin(new_epoch(), anew=True):
        raise EngineError("the store is being made anew by another: what was made here is not let go")
    store.refuse(None)
    repeats = counts.records - making.versions - counts.left_out
    return Rebuilt(counts.records, making.versions, repeats, counts.left_out, making.cases)


@dataclass
class _Counts:
    """Of one pass."""

    records: int = 0
    left_out: int = 0


def _pages(found: Iterable[LogRecord]) -> Iterator[list[LogRecord]]:
    page: list[LogRecord] = []
    for record in found:
        page.append(record)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


@dataclass
class _Fresh:
    """What a page adds to a case: versions on its head, by the offsets they lie at."""

    summary: Summary
    versions: list[StoredVersion] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    newest: StateVersion | None = None
    snapshot: Snapshot | None = None


class _Making:
    """The cases, as far as they are made."""

    def __init__(self, engine: Engine, secret_of: SecretOf) -> None:
        self._engine = engine
        self._secret_of = secret_of
        self._summaries: dict[str, Summary] = {}
        self._partitions = engine.log.partitions(STATES)
        self.versions = 0

    @property
    def cases(self) -> int:
        """How many have a version."""
        return len(self._summaries)

    def take(self, at: TopicPartition, page: Iterable[LogRecord], counts: _Counts) -> None:
        """Puts those of these records into the store that stand on its lines."""
        fresh: dict[str, _Fresh] = {}
        earlier: dict[str, list[tuple[int, str]]] = {}
        for record in page:
            counts.records += 1
            read = self._read(record)
            if read is None:
                counts.left_out += 1
                continue
            stored, version = read
            case = version.case
            made = fresh.get(case) or _Fresh(self._summary(case, version))
            if stored.number == made.summary.number + 1 and version.header.parents[:1] == (made.summary.id,):
                fresh[case] = made
                self._grow(made, stored, version)
                if partition_of(case, self._partitions) == at.partition:
                    made.places[stored.number] = record.offset
            else:
                earlier.setdefault(case, []).append((stored.number, stored.id))
        self._put(fresh)
        counts.left_out += sum(self._strangers(case, some) for case, some in earlier.items())

    def _read(self, record: LogRecord) -> tuple[StoredVersion, StateVersion] | None:
        """A record's version, proved by its id; None where it is none, or stands under another case's key."""
        try:
            stored = parted(record.value)
            version = StateVersion.parse(stored.record)
            version.proven(self._secret_of(version.tenant))
            key = parse_case(record.key)
            whole = {one.id for one in stored.contents} == set(carried(version))
        except (InputError, ValueError):
            # `verify` tells of each of these by its place
            return None
        return (stored, version) if whole and (key.tenant, key.subject) == (version.tenant, version.subject) else None

    def _summary(self, case: str, version: StateVersion) -> Summary:
        found = self._summaries.get(case)
        return found or empty(version.tenant, version.subject, self._secret_of(version.tenant))

    def _grow(self, made: _Fresh, stored: StoredVersion, version: StateVersion) -> None:
        read = (read_stored(one.id, one.body) for one in stored.contents)
        grown = advance(made.summary, [one for one in read if one is not None])
        summary = moved(grown, version.number, version.id, version.header.at)
        if snapshot_due(summary):
            made.snapshot, summary = snapshot_of(summary), replace(summary, snapshot=summary.number)
        made.summary, made.newest = summary, version
        made.versions.append(stored)

    def _put(self, fresh: dict[str, _Fresh]) -> None:
        store = self._engine.store
        commits, moves = [], []
        for case, made in fresh.items():
            first, newest = made.versions[0].number, made.newest
            assert newest is not None, "it is only put where it has versions"  # noqa: S101 - for the type checker
            before = self._summary(case, newest)
            row = row_of(newest, len(made.summary.current))
            commits.append(Commit(case, before.head, tuple(made.versions), row, made.snapshot))
            moves.append(Move(case, first - 1, newest.number, made.places))
        if commits and not all(store.commit(commits)):
            raise EngineError("another writer was at work on the store while it was made anew: run it again")
        if moves:
            store.move_published(moves)
        for case, made in fresh.items():
            self._summaries[case] = made.summary
            self.versions += len(made.versions)

    def _strangers(self, case: str, some: list[tuple[int, str]]) -> int:
        """How many of these numbers and ids are not on the case's line."""
        numbers = [number for number, _ in some]
        line = {one.number: one.id for one in self._engine.store.versions(case, min(numbers), max(numbers))}
        return sum(line.get(number) != identifier for number, identifier in some)
