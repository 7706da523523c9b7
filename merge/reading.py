"""Reading a case's line over the StateStore port, at a cost that its length does not enter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engines.log import EventLog
from engines.store import StateStore
from merge.contents import carried, read_stored
from merge.state import Kept
from merge.summary import Summary, SummaryBody, advance, empty, moved, restored
from merge.tape import tape_versions
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
        end = min(start + PAGE - 1, last)
        stored = {one.number: one for one in store.versions(case, start, end)}
        missing = [number for number in range(start, end + 1) if number not in stored]
        taped = tape_versions(log, case, missing[0], missing[-1]) if missing and log is not None else {}
        for number in range(start, end + 1):
            if number in stored:
                yield StateVersion.parse(stored[number].record)
            elif number in taped:
                yield taped[number]
            else:
                raise UnknownVersion(f"version {number} of `{case}` is not kept in the store")


def whole(store: StateStore, case: str, first: int, last: int, log: EventLog | None = None) -> Iterator[StateVersion]:
    """Versions `first`..`last` in order, each with its contents. Raises what `versions` and `envelopes` raise."""
    for version in versions(store, case, first, last, log):
        if version.contents:
            yield version
            continue
        ids = carried(version)
        bodies = envelopes(store, case, ids)
        yield version.model_copy(update={"contents": tuple(Content.parse(bodies[one]) for one in ids)})


def envelopes(store: StateStore, case: str, ids: Iterable[str]) -> dict[str, bytes]:
    """By id: the bytes of the case's contents. Raises EngineError where the store lacks one."""
    wanted = sorted(ids)
    out: dict[str, bytes] = {}
    for start in range(0, len(wanted), CONTENTS):
        out.update(store.contents(case, wanted[start : start + CONTENTS]))
    lost = next((one for one in wanted if one not in out), None)
    if lost is not None:
        raise EngineError(f"the store has lost content {lost} of `{case}`: run `casetape cases verify {case}`")
    return out


def kept(store: StateStore, case: str, ids: Iterable[str]) -> dict[str, Kept]:
    """By id: the case's contents as records, without proof; destroyed ones are left out. Raises EngineError where the
    store lacks one."""
    read = ((one, read_stored(one, body)) for one, body in envelopes(store, case, ids).items())
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
    records = kept(store, case, body.current).values()
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
    grown = advance(summary, [*taped, *kept(store, case, ids).values()])
    return moved(grown, number, before, delta[-1].header.at)
