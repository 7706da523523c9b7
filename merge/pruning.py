"""Pruning: old versions of a case leave the store once `states` has been seen to hold the same bytes.

What stays: the versions since a snapshot, that snapshot and the contents of its current analyses, on which every later
summary stands (what is current later and older than the snapshot was current in it too); which contents the case has,
so that a late repeat still adds nothing; where each version lies on the tape; and of the older snapshots so many that
any version can be read back by folding a bounded number of versions from the tape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engines.failpoints import fail_point
from engines.log import EventLog
from engines.store import Prune, Snapshot, StateStore
from merge.contents import parted
from merge.reading import PAGE
from merge.summary import SummaryBody
from merge.tape import find
from schemas.errors import InputError

MOST = 2_048
"""Versions pruned in one go, unless the snapshots of a case lie further apart."""
SPARSE = 256
"""Of the snapshots of pruned versions those stay that lie at least so many versions apart."""


class Pruned(NamedTuple):
    """How many versions of a case left the store; and where they had to stay though they are old, why."""

    versions: int
    refused: str | None = None


def prune(store: StateStore, log: EventLog, case: str, keep: int) -> Pruned:
    """Prunes a case one step, so that of its versions the `keep` newest stay, and those since the snapshot below them.
    Nothing is removed that `states` does not hold byte for byte; a race with another pruner is theirs, and counts 0."""
    head = store.heads([case]).get(case)
    below = store.pruned([case])[case]
    if head is None:
        return Pruned(0)
    snapshot = _boundary(store, case, below, min(head.number - keep, store.published([case])[case]))
    if snapshot is None:
        return Pruned(0)
    places: dict[int, int] = {}
    for first in range(below + 1, snapshot.number + 1, PAGE):
        last = min(first + PAGE - 1, snapshot.number)
        refused = _compare(store, log, case, first, last, places)
        if refused is not None:
            # where another pruner was first, versions are rightly gone
            return Pruned(0, refused if store.pruned([case])[case] == below else None)
    fail_point("keeper.compared")
    needed = SummaryBody.parse(snapshot.body).current
    lost = set(needed) - store.contents(case, needed).keys()
    if lost:
        return Pruned(0, f"content {min(lost)}, which is current at version {snapshot.number}, is missing in the store")
    going = list(_superfluous(store, case, below, snapshot.number))
    done = store.prune([Prune(case, below, snapshot.number, needed, going, places)])[0]
    if done:
        fail_point("keeper.pruned")
    return Pruned(snapshot.number - below if done else 0)


def _boundary(store: StateStore, case: str, below: int, last: int) -> Snapshot | None:
    """The snapshot up to which to prune: not beyond `last`, and not too far from where it is pruned already."""
    if last <= below:
        return None
    for number in (min(last, below + MOST), last):
        found = store.snapshot(case, number)
        if found is not None and found.number > below:
            return found
    return None


def _compare(store: StateStore, log: EventLog, case: str, first: int, last: int, places: dict[int, int]) -> str | None:
    """Why these versions may not go, or None; adds where they lie."""
    stored = {one.number: one for one in store.versions(case, first, last)}
    taped = find(store, log, case, range(first, last + 1))
    try:
        held = {number: parted(record.value) for number, record in taped.items()}
    except InputError as error:
        return f"`states`: {error}"
    bodies = store.contents(case, [one.id for version in held.values() for one in version.contents])
    for number in range(first, last + 1):
        if number not in stored:
            return f"version {number} is missing in the store"
        if number not in held:
            return f"version {number} is not in `states`"
        here, there = stored[number], held[number]
        if (here.id, here.record) != (there.id, there.record) or any(
            bodies.get(one.id) != one.body for one in there.contents
        ):
            return f"version {number} is not the same in the store and in `states`"
        places[number] = taped[number].offset
    return None


def _superfluous(store: StateStore, case: str, below: int, number: int) -> Iterator[int]:
    """The snapshots from `below` on and under `number` that lie too close to one that stays."""
    found = []
    at = number - 1
    while at >= below and (snapshot := store.snapshot(case, at)) is not None and snapshot.number >= below:
        found.append(snapshot.number)
        at = snapshot.number - 1
    earlier = store.snapshot(case, below - 1)
    kept = 0 if earlier is None else earlier.number
    for one in reversed(found):
        if one - kept < SPARSE:
            yield one
        else:
            kept = one
