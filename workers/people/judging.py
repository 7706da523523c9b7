"""Putting a person's word on a case onto the tape, on top of the version the person was looking at."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord
from engines.store import StateStore
from engines.topics import VERSIONS
from merge.contents import is_input
from merge.reading import load_summary, whole
from merge.summary import Summary
from schemas.analysis import Analysis, Evidence, evidence_of
from schemas.keys import parse_case
from schemas.observation import Observation
from schemas.persons import WHOLE_CASE, person_of
from schemas.version import StateVersion
from workers.people.errors import UnknownFingerprint
from workers.people.requests import Note, Request, claim, recall, request, settle
from workers.people.word import Word, branch_of, near, newest_said, spoken


class Judged(NamedTuple):
    """What a person's word became: the id of its analysis, and whether the same request had been made before."""

    analysis: str
    repeated: bool


def judge(log: EventLog, store: StateStore, case: str, word: Word, now: int, seen: int | None = None) -> Judged:
    """Appends the branch version that says it, unless the case has it. `now` is the time of the request in
    microseconds, `seen` the version its author was looking at (None: the newest).

    Raises UnknownCase, UnknownVersion, UnknownFingerprint where the case had no such analysis then, RequestReused, and
    EngineErrors.
    """
    if word.request_id is None:
        analysis, branch = _said(log, store, case, word, now, seen)
        _append(log, case, branch)
        return Judged(analysis.id, False)
    asked = request(case, word.by, word.request_id, _arguments(word, seen))
    first = recall(store, asked)
    if first is None:
        analysis, branch = _said(log, store, case, word, now, seen)
        mine = Note(asked.arguments, analysis.id, branch.encode().decode())
        first = claim(store, asked, mine)
        fail_point("request.noted")
        return Judged(_finished(log, store, case, asked, first), first != mine)
    return Judged(_finished(log, store, case, asked, first), True)


def settle_judged(store: StateStore, case: str, word: Word, seen: int | None = None) -> None:
    """Once the case has it, the note of a request need not hold the word any longer."""
    if word.request_id is not None:
        asked = request(case, word.by, word.request_id, _arguments(word, seen))
        note = recall(store, asked)
        if note is not None:
            settle(store, asked, note)


def _finished(log: EventLog, store: StateStore, case: str, asked: Request, note: Note) -> str:
    """Sees to it that what was noted is on the tape, or in the case already."""
    if note.id in store.known(case, [note.id]):
        settle(store, asked, note)
    elif note.record is not None:
        _append(log, case, StateVersion.parse(note.record.encode()))
    return note.id


def _append(log: EventLog, case: str, branch: StateVersion) -> None:
    log.append(VERSIONS, [NewRecord(case, branch.encode())])
    fail_point("request.appended")


def _said(
    log: EventLog, store: StateStore, case: str, word: Word, now: int, seen: int | None
) -> tuple[Analysis, StateVersion]:
    newest = load_summary(store, case, log=log)
    then = newest if seen in (None, newest.number) else load_summary(store, case, seen, log=log)
    about = _about(case, word, then)
    evidence = _evidence(about) if about else evidence_of(list(_inputs(log, store, case, then.number)))
    # whoever answers a word comes after it, whatever this machine's clock says
    last = newest_said([one for one in newest.current.values() if one.fingerprint == word.fingerprint])
    at = now if last is None else max(now, last + 1)
    analysis = spoken(parse_case(case), word, about, evidence, at)
    return analysis, branch_of(analysis, word.by, then.id, now)


def _about(case: str, word: Word, then: Summary) -> Collection[Analysis]:
    """The current analyses that the word is about; none where it is about the whole case."""
    if word.fingerprint == WHOLE_CASE:
        return ()
    known = {one.fingerprint for one in then.current.values()}
    if word.fingerprint in known:
        return [one for one in then.current.values() if one.fingerprint == word.fingerprint]
    meant = near(word.fingerprint, known)
    hint = f"; did you mean {' or '.join(f'`{one}`' for one in meant)}?" if meant else ""
    raise UnknownFingerprint(f"`{case}` has no analysis `{word.fingerprint}` at version {then.number}{hint}")


def _evidence(about: Collection[Analysis]) -> Evidence:
    """That of the newest analysis that it is about, of a detector where there is one."""
    return max(about, key=lambda one: (person_of(one.detector) is None, one.order)).evidence


def _inputs(log: EventLog, store: StateStore, case: str, number: int) -> Iterator[tuple[str, int | None]]:
    """Id and event time of everything that the case held at version `number`; of what was destroyed no time is left."""
    for version in whole(store, case, 1, number, log):
        for content in version.contents:
            if is_input(content.id):
                record = None if content.body is None else content.opened()
                yield content.id, record.at if isinstance(record, Observation) else None


def _arguments(word: Word, seen: int | None) -> dict[str, object]:
    return {
        "verb": "judge",
        "verdict": word.verdict,
        "why": word.why,
        "fingerprint": word.fingerprint,
        "score": word.score,
        "confidence": word.confidence,
        "seen": seen,
    }
