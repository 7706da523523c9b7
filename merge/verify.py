"""Verification: a case's chain is computed anew from what the store keeps, and compared with the tape; pruned versions
are taken from the tape. It finds any edit and any cut of versions, contents, heads, rows, places, `states` and handled
branches. What it cannot see: that a snapshot was removed that nothing stands on (it is a cache), that a mark was moved
back (the versions are published once more), or that unhandled branches were cut, once a merger went on behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engines.log import EventLog
from engines.store import CaseRow, Head, Snapshot, StateStore
from engines.topics import STATES, VERSIONS
from merge.branches import SecretOf, no_secrets
from merge.chain import Chain, Fault, fingerprint
from merge.contents import carried, tape_record
from merge.line import Line
from merge.witness import Witness
from schemas.errors import CasetapeError, InputError, UnknownCase
from schemas.keys import parse_case
from schemas.version import StateVersion

PAGE = 256
BEYOND = 1 << 62


@dataclass(frozen=True, slots=True)
class Report:
    """What was verified (cases, versions, contents), how many committed versions have not been published yet, of the
    versions how many were `pruned`, and read from the tape, what does not verify, and by topic how many records are no
    longer there to compare with, because they were trimmed: what only those could tell is not vouched for."""

    cases: int
    versions: int
    contents: int
    unpublished: int
    pruned: int
    faults: tuple[Fault, ...]
    trimmed: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether everything verified."""
        return not self.faults


def verify(store: StateStore, log: EventLog, case: str | None = None, *, secret_of: SecretOf = no_secrets) -> Report:
    """Verifies one case, or all. It may run beside a working merger. Raises UnknownCase for a case of which neither
    store nor tape knows anything, and what the engine raises where it does not answer."""
    if case is not None:
        parse_case(case)
    listed = list(_listed(store)) if case is None else [case]
    marks = dict(store.published(listed))
    witness = Witness(log, case, secret_of)
    witness.read()
    names = sorted({*listed, *witness.cases})
    if case is not None and case not in witness.cases and case not in store.heads([case]):
        raise UnknownCase(f"there is no case `{case}`")
    checks = [_Check(store, log, name, witness, marks.get(name, 0)) for name in names]
    for check in checks:
        check.run()
    return Report(
        cases=sum(not one.waiting for one in checks),
        versions=sum(one.versions for one in checks),
        contents=sum(one.contents for one in checks),
        unpublished=sum(one.unpublished for one in checks),
        pruned=sum(one.pruned for one in checks),
        faults=(*witness.faults, *(fault for one in checks for fault in one.faults)),
        trimmed=witness.trimmed,
    )


def _listed(store: StateStore) -> Iterator[str]:
    after: str | None = None
    while page := store.cases(None, order="key", limit=PAGE, after=after):
        yield from (row.key for row in page)
        after = page[-1].key


class _Check:
    """The verification of one case."""

    def __init__(self, store: StateStore, log: EventLog, case: str, witness: Witness, mark: int) -> None:
        self._store = store
        self._line = Line(store, log, case)
        self._case = case
        self._seen = witness.cases[case]
        self._whole = {topic: witness.whole(topic, case) for topic in (STATES, VERSIONS)}
        self._mark = mark
        self._secret_of = witness.secret_of
        self.faults: list[Fault] = []
        self.versions = self.contents = self.unpublished = self.pruned = 0
        self.waiting = False

    def run(self) -> None:
        """Gathers the faults, whatever state the store is in."""
        try:
            chain = Chain(self._case, self._secret_of(parse_case(self._case).tenant))
        except CasetapeError as error:
            self._fault(None, f"the key names no case: {error}")
            return
        try:
            self._follow(chain)
        except Exception as error:
            # bytes that were damaged on the disk can fail in any way, and are what is looked for here
            if isinstance(error, CasetapeError) and error.retriable:
                raise
            self._fault(chain.number + 1, f"the store cannot be read: {type(error).__name__}: {error}")
        self.faults += chain.faults
        self.versions, self.contents = chain.number, chain.contents
        self._compare(chain)

    def _follow(self, chain: Chain) -> None:
        head, row = self._end()
        last = 0 if head is None else head.number
        if head is None:
            # branches that no merger has handled yet are no case yet
            self.waiting = not (self._seen.states or self._seen.handled or self._mark)
            if not self.waiting:
                self._fault(None, "the tape knows the case, and the store does not")
            return
        floor = self._line.pruned()
        snapshots = dict(self._snapshots())
        for start in range(1, last + 1, PAGE):
            if not self._follow_page(chain, start, min(start + PAGE - 1, last), snapshots, floor):
                break
        if any(number > last for number in snapshots) or self._store.versions(self._case, last + 1, BEYOND):
            self._fault(last, "the store keeps versions or snapshots beyond the head")
        if floor and floor not in snapshots and self._line.pruned() == floor:
            self._fault(floor, "versions were pruned up to here, and there is no snapshot to stand on")
        if chain.number == last:
            chain.check_end(head, row)
            self._check_index(chain)

    def _follow_page(self, chain: Chain, first: int, last: int, snapshots: Mapping[int, Snapshot], floor: int) -> bool:
        """Follows these versions; False where one of them is kept nowhere."""
        self._check_places(first, last)
        for number, held in self._line.page(first, last):
            if isinstance(held, str):
                self._fault(number, held)
                return False
            ids = _named(held.version.record)
            chain.follow(held.version, held.bodies, self._store.content_numbers(self._case, ids))
            self.pruned += held.taped
            if number in snapshots:
                chain.check_snapshot(snapshots[number])
            if held.taped:
                self._check_remains(number, held.bodies)
            else:
                self._compare_state(
                    number, held.version.record, [held.bodies[one] for one in ids if one in held.bodies]
                )
            if number == floor:
                self._check_base(chain, floor)
        return True

    def _check_places(self, first: int, last: int) -> None:
        """Whether the places that the store notes are those where the tape was seen to have these versions."""
        for number, place in self._store.places(self._case, range(first, last + 1)).items():
            seen = self._seen.states.get(number)
            if seen is not None and place != seen.offset and place not in self._seen.repeats.get(number, ()):
                self._fault(number, f"the store says that it lies at offset {place} of `{STATES}`, and it does not")

    def _check_remains(self, number: int, taped: Mapping[str, bytes]) -> None:
        """Whether what is left of the contents of a pruned version is as on the tape."""
        for one, body in self._store.contents(self._case, list(taped)).items():
            if body != taped[one]:
                self._fault(number, f"`{STATES}` and the store keep different bytes of content {one}")

    def _check_base(self, chain: Chain, floor: int) -> None:
        """Whether the store still has what is current where it begins: later summaries stand on it."""
        lost = chain.current_ids - self._store.contents(self._case, sorted(chain.current_ids)).keys()
        if lost and self._line.pruned() == floor:
            self._fault(floor, f"the store has let go of {len(lost)} contents that are current ({min(lost)} first)")

    def _check_index(self, chain: Chain) -> None:
        """Whether the store says of contents that are on the tape that it has them, and no version does: a merger would
        leave those out. Of ids that were never on the tape nobody can ask."""
        others = [one for one in self._seen.envelopes if one not in chain.ids]
        said = self._store.content_numbers(self._case, others)
        # a merger may have gone on since
        head = self._store.heads([self._case]).get(self._case)
        newest = 0 if head is None else head.number
        extra = sorted(one for one, number in said.items() if not chain.number < number <= newest)
        if extra:
            self._fault(said[extra[0]], f"the store says that it has {len(extra)} contents that no version brought")

    def _end(self) -> tuple[Head | None, CaseRow | None]:
        """Head and row of one moment: a merger may be at work."""
        while True:
            head = self._store.heads([self._case]).get(self._case)
            row = self._store.row(self._case)
            if self._store.heads([self._case]).get(self._case) == head:
                return head, row

    def _snapshots(self) -> Iterator[tuple[int, Snapshot]]:
        below = BEYOND
        while (found := self._store.snapshot(self._case, below)) is not None:
            yield found.number, found
            below = found.number - 1

    def _compare_state(self, number: int, record: bytes, envelopes: list[bytes]) -> None:
        published = self._seen.states.get(number)
        if published is None:
            return
        try:
            same = fingerprint(tape_record(record, envelopes)) == published[1]
        except InputError:
            same = False
        if not same:
            self._fault(number, f"`{STATES}` and the store keep different bytes of the version")

    def _compare(self, chain: Chain) -> None:
        """What the tape says against what was followed."""
        seen = self._seen
        oldest = 1 if self._whole[STATES] else min(seen.states, default=chain.number + 1)
        missing = [one for one in range(oldest, chain.number + 1) if one not in seen.states]
        lost = [one for one in missing if one <= self._mark]
        self.unpublished = len(missing) - len(lost)
        if lost:
            self._fault(lost[0], f"{len(lost)} versions that were published are not in `{STATES}`")
        if self._mark > chain.number:
            self._fault(self._mark, "more was marked as published than there is")
        if self.pruned > self._mark:
            self._fault(self.pruned, "versions were pruned that were not marked as published")
        ahead = [one for one in seen.states if one > chain.number]
        if ahead:
            self._fault(min(ahead), f"{len(ahead)} versions in `{STATES}` are beyond what the store has")
        dropped = [one for one in seen.handled if one not in chain.ids]
        if dropped:
            at = seen.handled[dropped[0]]
            self._fault(None, f"{len(dropped)} contents of handled branches are not in the case (offset {at} first)")
        edited = [one for one, kept in chain.ids.items() if kept not in seen.envelopes.get(one, {kept})]
        if edited:
            self._fault(None, f"{len(edited)} contents differ from those on `{VERSIONS}` ({edited[0]} first)")
        # of later ones the branches may have been appended since the tape was read
        settled = max(self._mark, *seen.states, 0)
        gone = sorted(one for one, number in chain.branches.items() if number <= settled and one not in seen.branches)
        if gone and self._whole[VERSIONS]:
            self._fault(None, f"{len(gone)} branches that the case took in are not on `{VERSIONS}` ({gone[0]} first)")

    def _fault(self, number: int | None, what: str) -> None:
        self.faults.append(Fault(self._case, number, what))


def _named(record: bytes) -> list[str]:
    """The contents that a version's record names; none where it cannot be read, which following it will tell."""
    try:
        return list(carried(StateVersion.parse(record)))
    except InputError:
        return []
