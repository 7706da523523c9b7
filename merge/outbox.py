"""The store is the outbox: what was committed goes to `states` in order, then the mark moves. Whoever commits or finds
a case behind its mark publishes; repeats are harmless, gaps cannot come about, because every publisher starts at the
mark and the mark only says what has arrived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord
from engines.store import Move, StateStore, StoredVersion
from engines.topics import STATES
from merge.contents import carried, tape_record
from merge.reading import PAGE
from schemas.errors import EngineError
from schemas.version import StateVersion

APPEND_LIMIT = 32 * 1024 * 1024
"""Bytes gathered for one append: a log on the network takes a large one in while it is still being sent."""


def publish(
    store: StateStore, log: EventLog, heads: Mapping[str, int], ready: Mapping[str, Sequence[StoredVersion]] = {}
) -> int:
    """Sees to it that all versions up to these heads have reached `states`, and moves the marks. `ready` are versions
    just committed, which need no reading. Returns how many records were appended."""
    marks = dict(store.published(list(heads)))
    waiting: list[NewRecord] = []
    numbers: list[int] = []
    appended = size = 0

    def flush() -> None:
        nonlocal appended, size
        if waiting:
            offsets = log.append_placed(STATES, waiting)
            fail_point("merger.published")
            reached: dict[str, dict[int, int]] = {}
            for record, number, offset in zip(waiting, numbers, offsets, strict=True):
                reached.setdefault(record.key, {})[number] = offset
            _move(store, marks, reached)
            marks.update((case, max(places)) for case, places in reached.items())
            appended += len(waiting)
        waiting.clear()
        numbers.clear()
        size = 0

    for case, head in heads.items():
        for number, value in _outstanding(store, case, marks.get(case, 0), head, ready.get(case, ())):
            waiting.append(NewRecord(case, value))
            numbers.append(number)
            size += len(value)
            if size >= APPEND_LIMIT:
                flush()
    flush()
    return appended


def _outstanding(
    store: StateStore, case: str, mark: int, head: int, ready: Sequence[StoredVersion]
) -> Iterator[tuple[int, bytes]]:
    if ready and ready[0].number <= mark + 1 and ready[-1].number == head:
        for stored in ready:
            if stored.number > mark:
                yield stored.number, tape_record(stored.record, [one.body for one in stored.contents])
        return
    while mark < head:
        last = min(mark + PAGE, head)
        page = _whole(store, case, mark + 1, last)
        if page is not None:
            yield from page
            mark = last
            continue
        # another publisher was first, and what is published may leave the store
        reached = store.published([case])[case]
        if reached <= mark:
            raise EngineError(f"the store has lost versions of `{case}` before they reached `{STATES}`")
        mark = reached


def _whole(store: StateStore, case: str, first: int, last: int) -> list[tuple[int, bytes]] | None:
    """Versions `first`..`last` as the tape is to have them, or None where the store does not have all of them whole."""
    page = store.versions(case, first, last)
    ids = {one.number: carried(StateVersion.parse(one.record)) for one in page}
    bodies = store.contents(case, [one for held in ids.values() for one in held])
    if list(ids) != list(range(first, last + 1)) or any(one not in bodies for held in ids.values() for one in held):
        return None
    return [(one.number, tape_record(one.record, [bodies[each] for each in ids[one.number]])) for one in page]


def _move(store: StateStore, marks: Mapping[str, int], reached: Mapping[str, Mapping[int, int]]) -> None:
    """Others move the marks too, and only ever up: each ends at what was reached or beyond."""
    behind = list(_moves(marks, reached, list(reached)))
    while behind:
        moved = store.move_published(behind)
        left = [move.case for move, done in zip(behind, moved, strict=True) if not done]
        behind = list(_moves(store.published(left), reached, left)) if left else []


def _moves(marks: Mapping[str, int], reached: Mapping[str, Mapping[int, int]], cases: Iterable[str]) -> Iterator[Move]:
    for case in cases:
        mark, last = marks.get(case, 0), max(reached[case])
        if mark < last:
            places = {number: at for number, at in reached[case].items() if number > mark and at >= 0}
            yield Move(case, mark, last, places)
