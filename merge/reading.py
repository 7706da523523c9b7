"""Reading a case's line over the StateStore port, at a cost that its length does not enter; what the store has let go
of, from `states`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engines.log import EventLog
from engines.store import StateStore
from merge.contents import carried, outlined, parted, read_stored
from merge.state import Kept
from merge.summary import Summary, SummaryBody, advance, empty, moved, restored
from merge.tape import find
from schemas.analysis import Analysis
from schemas.errors import EngineError, UnknownCase, UnknownVersion
from schemas.keys import parse_case
from schemas.version import Content, StateVersion

PAGE = 256
"""Versions per call of the store."""
CONTENTS = 10_000
"""Contents per call: a store may keep those of one version together, so that few large calls read each bundle once."""


def head_number(store: StateStore, case: str) -> int:
    """The number of a case's newest version. Raises UnknownCase."""
    head = store.heads([case]).get(case)
    if head is None:
        raise UnknownCase(f"there is no case `{case}`")
    return head.number


def versions(
    store: StateStore, case: str, first: int, last: int, log: EventLog | None = None
) -> Iterator[StateVersion]:
    """Versions `first`..`last` in order, without contents. What the store no longer has is read from `states`, where a
    log is given, and comes with contents. Raises UnknownVersion for one that neither has."""
    for start in range(first, last + 1, PAGE):
        numbers = range(start, min(start + PAGE - 1, last) + 1)
        page = versions_at(store, case, numbers, log)
        yield from (page[number] for number in numbers)


def versions_at(
    store: StateStore, case: str, numbers: Iterable[int], log: EventLog | None = None
) -> dict[int, StateVersion]:
    """By number: these versions, as `versions` gives them, in few calls however they are scattered."""
    wanted = sorted(set(numbers))
    found: dict[int, StateVersion] = {}
    for first, last in _runs(wanted):
        stored = store.versions(case, first, last)
        found.update((one.number, StateVersion.parse(one.record)) for one in stored)
    missing = [number for number in wanted if number not in found]
    if missing and log is not None:
        taped = find(store, log, case, missing)
        found.update((number, StateVersion.parse(record.value)) for number, record in taped.items())
    lost = next((number for number in wanted if number not in found), None)
    if lost is not None:
        raise UnknownVersion(
            f"version {lost} of `{case}` is not kept in the store" + (" or on the tape" if log else "")
        )
    return found


def version_ids(store: StateStore, case: str, first: int, last: int, log: EventLog | None = None) -> dict[int, str]:
    """By number: the ids of versions `first`..`last`, unproved, as far as they are kept."""
    found = {one.number: one.id for one in store.versions(case, first, last)}
    missing = [number for number in range(first, last + 1) if number not in found]
    if missing and log is not None:
        found.update((number, outlined(one.value)[1]) for number, one in find(store, log, case, missing).items())
    return found


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive numbers, which are sorted."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place


def whole(store: StateStore, case: str, first: int, last: int, log: EventLog | None = None) -> Iterator[StateVersion]:
    """Versions `first`..`last` in order, each with its contents. Raises what `versions` and `envelopes` raise."""
    for version in versions(store, case, first, last, log):
        if version.contents:
            yield version
            continue
        ids = carried(version)
        bodies = envelopes(store, case, ids, log)
        yield version.model_copy(update={"contents": tuple(Content.parse(bodies[one]) for one in ids)})


def envelopes(store: StateStore, case: str, ids: Iterable[str], log: EventLog | None = None) -> dict[str, bytes]:
    """By id: the bytes of the case's contents; those that the store no longer has from `states`, where a log is given.
    Raises EngineError where one is kept nowhere."""
    wanted = sorted(ids)
    out: dict[str, bytes] = {}
    for start in range(0, len(wanted), CONTENTS):
        out.update(store.contents(case, wanted[start : start + CONTENTS]))
    lost = [one for one in wanted if one not in out]
    if lost and log is not None:
        _add_taped(store, log, case, lost, out)
    missing = next((one for one in lost if one not in out), None)
    if missing is not None:
        raise EngineError(f"the store has lost content {missing} of `{case}`: run `casetape cases verify {case}`")
    return out


def _add_taped(store: StateStore, log: EventLog, case: str, ids: Sequence[str], out: dict[str, bytes]) -> None:
    brought = store.content_numbers(case, ids)
    numbers = sorted(set(brought.values()))
    for start in range(0, len(numbers), PAGE):
        for number, record in find(store, log, case, numbers[start : start + PAGE]).items():
            held = parted(record.value).contents
            out.update((one.id, one.body) for one in held if brought.get(one.id) == number)


def kept(store: StateStore, case: str, ids: Iterable[str], log: EventLog | None = None) -> dict[str, Kept]:
    """By id: the case's contents as records, without proof; destroyed ones are left out. Raises what `envelopes`
    raises."""
    read = ((one, read_stored(one, body)) for one, body in envelopes(store, case, ids, log).items())
    return {one: record for one, record in read if record is not None}


def load_summary(
    store: StateStore,
    case: str,
    number: int | None = None,
    *,
    base: Summary | None = None,
    log: EventLog | None = None,
    secret: bytes | None = None,
) -> Summary:
    """The summary at version `number` (None: the newest), folded from the newest snapshot at or below it and the
    versions since; or from `base`, an earlier summary of the case, where that is no further back and on the line.

    Raises UnknownCase, UnknownVersion; EngineError where the store lacks a content or its versions form no chain.
    """
    last = head_number(store, case)
    number = last if number is None else number
    if not 0 <= number <= last:
        raise UnknownVersion(f"`{case}` has no version {number}: its newest is {last}")
    snapshot = store.snapshot(case, number)
    newer = base is not None and base.number <= number and (snapshot is None or snapshot.number <= base.number)
    if base is not None and newer and _on_line(store, case, base):
        base = replace(base, snapshot=0 if snapshot is None else snapshot.number)
        return _forward(store, case, base, number, log)
    if snapshot is None:
        return _forward(store, case, empty(*parse_case(case), secret), number, log)
    body = SummaryBody.parse(snapshot.body)
    records = kept(store, case, body.current, log).values()
    return _forward(store, case, restored(body, (one for one in records if isinstance(one, Analysis))), number, log)


def _on_line(store: StateStore, case: str, base: Summary) -> bool:
    stored = store.versions(case, base.number, base.number)
    return bool(stored) and stored[0].id == base.id


def _forward(store: StateStore, case: str, summary: Summary, number: int, log: EventLog | None) -> Summary:
    """One advance over all versions at once: what is current is copied once, not once per version."""
    delta = list(versions(store, case, summary.number + 1, number, log))
    if not delta:
        return summary
    before = summary.id
    for version in delta:
        if version.header.parents[:1] != (before,):
            raise EngineError(
                f"version {version.number} of `{case}` does not stand on the one before:"
                f" run `casetape cases verify {case}`"
            )
        before = version.id
    taped = [content.opened() for version in delta for content in version.contents]
    ids = [one for version in delta if not version.contents for one in carried(version)]
    grown = advance(summary, [*taped, *kept(store, case, ids, log).values()])
    return moved(grown, number, before, delta[-1].header.at)
