"""The store is the outbox: what was committed goes to `states` in order, then the mark moves. Whoever commits or finds
a case behind its mark publishes; repeats are harmless, gaps cannot come about, because every publisher starts at the
mark and the mark only says what has arrived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord
from engines.store import Move, StateStore, StoredVersion
from engines.topics import STATES
from merge.contents import carried, tape_record
from merge.reading import PAGE, envelopes
from schemas.errors import EngineError
from schemas.version import StateVersion

APPEND_LIMIT = 8 * 1024 * 1024
"""Bytes gathered for one append."""


def publish(
    store: StateStore, log: EventLog, heads: Mapping[str, int], ready: Mapping[str, Sequence[StoredVersion]] = {}
) -> int:
    """Sees to it that all versions up to these heads have reached `states`, and moves the marks. `ready` are versions
    just committed, which need no reading. Returns how many records were appended."""
    marks = dict(store.published(list(heads)))
    waiting: list[NewRecord] = []
    reached: dict[str, int] = {}
    appended = size = 0

    def flush() -> None:
        nonlocal appended, size
        if waiting:
            log.append(STATES, waiting)
            fail_point("merger.published")
            _move(store, marks, reached)
            marks.update(reached)
            appended += len(waiting)
        waiting.clear()
        reached.clear()
        size = 0

    for case, head in heads.items():
        for number, value in _outstanding(store, case, marks.get(case, 0), head, ready.get(case, ())):
            waiting.append(NewRecord(case, value))
            reached[case] = number
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
    for start in range(mark + 1, head + 1, PAGE):
        last = min(start + PAGE - 1, head)
        page = store.versions(case, start, last)
        if [one.number for one in page] != list(range(start, last + 1)):
            raise EngineError(f"the store has lost versions of `{case}` before they reached `{STATES}`")
        for stored in page:
            ids = carried(StateVersion.parse(stored.record))
            bodies = envelopes(store, case, ids)
            yield stored.number, tape_record(stored.record, [bodies[one] for one in ids])


def _move(store: StateStore, marks: Mapping[str, int], reached: Mapping[str, int]) -> None:
    """Others move the marks too, and only ever up: each ends at what was reached or beyond."""
    marks = dict(marks)
    behind = [Move(case, marks.get(case, 0), number) for case, number in reached.items()]
    while behind:
        moved = store.move_published(behind)
        left = [move.case for move, done in zip(behind, moved, strict=True) if not done]
        marks.update(store.published(left) if left else {})
        behind = [Move(case, marks.get(case, 0), reached[case]) for case in left if marks.get(case, 0) < reached[case]]
