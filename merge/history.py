"""What people ask of a case's past: its state at a version, its line, what changed, and what an author saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engines.log import EventLog
from engines.store import StateStore
from merge.graph import Difference, Moment, diff, fold
from merge.reading import PAGE, head_number, load_summary, version_ids, versions, versions_at, whole
from merge.state import State
from schemas.errors import UnknownVersion
from schemas.keys import parse_case
from schemas.version import Author, StateVersion, genesis


def history(
    store: StateStore, case: str, first: int = 1, last: int | None = None, log: EventLog | None = None
) -> Iterator[StateVersion]:
    """The case's merged versions in order, without contents (what comes from the tape has them). Raises UnknownCase,
    UnknownVersion."""
    newest = head_number(store, case)
    return versions(store, case, first, newest if last is None else min(last, newest), log)


def state_at(
    store: StateStore, case: str, number: int | None = None, log: EventLog | None = None, secret: bytes | None = None
) -> State:
    """The whole state at version `number` (None: the newest), every content proved. Costs the length of the case up to
    there; `reading.load_summary` answers what is current, and how much there is, without that.

    Raises UnknownCase, UnknownVersion, EngineError, and what `Content.opened` raises.
    """
    return fold(whole(store, case, 1, _existing(store, case, number), log), secret)


def moment(store: StateStore, case: str, number: int | None = None, log: EventLog | None = None) -> Moment:
    """Summary and assessment at version `number` (None: the newest). Raises UnknownCase, UnknownVersion."""
    number = _existing(store, case, number)
    found = list(versions(store, case, number, number, log)) if number else []
    return Moment(load_summary(store, case, number, log=log), found[0].assessment if found else None)


def difference(store: StateStore, case: str, a: int, b: int, log: EventLog | None = None) -> Difference:
    """What changed between two versions, from the earlier to the later. Raises UnknownCase, UnknownVersion."""
    first, last = sorted((_existing(store, case, a), _existing(store, case, b)))
    between = versions(store, case, first + 1, last, log)
    return diff(moment(store, case, first, log), moment(store, case, last, log), between)


_PAGE = 64


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an analysis comes from: version `number` brought it, out of branch `branch` by `author`, who was looking at
    version `seen_id`, which has number `seen` (None where it is no version of this line)."""

    analysis: str
    number: int
    branch: str
    author: Author
    seen_id: str
    seen: int | None


def provenance(
    store: StateStore,
    case: str,
    analyses: Sequence[str],
    log: EventLog | None = None,
    secret: bytes | None = None,
) -> dict[str, Provenance]:
    """By id: where these analyses (or inputs) come from; ids that the case does not have are missing. Raises
    UnknownVersion for versions that are kept nowhere."""
    numbers = store.content_numbers(case, analyses)
    places = _Places(store, case, log, secret, newest=max(numbers.values(), default=0))
    by_number: defaultdict[int, list[str]] = defaultdict(list)
    for one, number in numbers.items():
        by_number[number].append(one)
    found: dict[str, Provenance] = {}
    wanted = sorted(by_number)
    for start in range(0, len(wanted), PAGE):
        # versions that come from the tape bring their contents: not all of them are held at once
        for number, version in versions_at(store, case, wanted[start : start + PAGE], log).items():
            found.update((one.analysis, one) for one in _brought(version, by_number[number], places))
    return found


def _brought(version: StateVersion, ids: Sequence[str], places: _Places) -> Iterator[Provenance]:
    """Where these come from, which this version brought."""
    for one in ids:
        for branch, header in version.branches.items():
            if one in header.analyses or one in header.inputs:
                seen = header.parents[0]
                at = places.number(seen, version.number)
                # of several branches that carried it in one fold the first by id is the one that was counted
                yield Provenance(one, version.number, branch, header.author, seen, at)
                break


class _Places:
    """Numbers of versions by id, found by walking back, each page read once: an author mostly looked at a version
    shortly before its own."""

    def __init__(
        self, store: StateStore, case: str, log: EventLog | None, secret: bytes | None, *, newest: int
    ) -> None:
        self._store = store
        self._case = case
        self._log = log
        self._newest = newest
        self._known: dict[str, int] = {genesis(*parse_case(case)).version_id(secret): 0}
        self._read: set[int] = set()

    def number(self, identifier: str, below: int) -> int | None:
        """The number of the version with this id, which lies below version `below`; None where there is none."""
        for page in range((below - 1) // _PAGE, -1, -1):
            if identifier in self._known:
                break
            if page not in self._read:
                self._read.add(page)
                first, last = max(1, page * _PAGE), min(page * _PAGE + _PAGE - 1, self._newest)
                ids = version_ids(self._store, self._case, first, last, self._log)
                self._known.update((one, number) for number, one in ids.items())
        return self._known.get(identifier)


def _existing(store: StateStore, case: str, number: int | None) -> int:
    newest = head_number(store, case)
    if number is None:
        return newest
    if not 0 <= number <= newest:
        raise UnknownVersion(f"`{case}` has no version {number}: its newest is {newest}")
    return number
