"""How things look to programs: records as the values that `--json` prints. Scores are decimals, times RFC 3339."""

from __future__ import annotations

from typing import Any

from engines.store import CaseRow
from merge.graph import Moment, Turn
from merge.history import Provenance
from merge.policies.common import Reason
from schemas.analysis import Analysis, Evidence
from schemas.assessment import Conflict
from schemas.observation import Observation
from schemas.scales import decimal, rfc3339
from schemas.version import Author

Shape = dict[str, Any]


def time(at: int | None) -> str | None:
    """RFC 3339 for microseconds, or None."""
    return None if at is None else rfc3339(at)


def row(case: CaseRow) -> Shape:
    """A row of `cases list`."""
    return {
        "key": case.key,
        "tenant": case.tenant,
        "subject": case.subject,
        "number": case.number,
        "verdict": case.verdict,
        "severity": case.severity,
        "score": decimal(case.score),
        "analyses": case.analyses,
        "conflicts": case.conflicts,
        "updated_at": rfc3339(case.updated_at),
    }


def assessment(at: Moment) -> Shape | None:
    """The assessment at a moment, its conflicts with who says what; None for version 0, which has none."""
    made = at.assessment
    if made is None:
        return None
    return {
        **made.model_dump(mode="json", exclude={"score"}),
        "conflicts": [_conflict(one, at) for one in made.conflicts],
        "score": decimal(made.score),
    }


def turn(one: Turn) -> Shape:
    """An analysis that counts otherwise than before: `was` and `now` are `counts`, or why it does not count; `was` is
    null where it was not there."""
    return {**brief(one.analysis), "was": one.was, "now": one.now}


def _conflict(one: Conflict, at: Moment) -> Shape:
    said = [at.said[each] for each in one.analyses if each in at.said]
    names = ("id", "detector", "fingerprint", "verdict")
    return {**one.model_dump(mode="json"), "says": [{name: getattr(each, name) for name in names} for each in said]}


def author(who: Author) -> Shape:
    """Who made something."""
    return who.model_dump(mode="json")


def place(number: int | None, identifier: str) -> Shape:
    """A version; `number` is null where the id is of no version of this line."""
    return {"number": number, "id": identifier}


def evidence(held: Evidence) -> Shape:
    """What an analysis rests on."""
    return {**held.model_dump(mode="json"), "first": time(held.first), "last": time(held.last)}


def brief(one: Analysis) -> Shape:
    """An analysis by its main fields."""
    return {
        "id": one.id,
        "detector": one.detector,
        "fingerprint": one.fingerprint,
        "title": one.title,
        "target": one.target,
        "verdict": one.verdict,
        "severity": one.severity,
        "score": decimal(one.score),
        "confidence": decimal(one.confidence),
        "at": time(one.at),
        "provisional": one.provisional,
    }


def analysis(one: Analysis, came: Provenance, *, current: bool, left_out: Reason | None = None) -> Shape:
    """An analysis with where it came from: `version` is the number of the version that brought it (the detector's own
    is `detector_version`), `looking_at` the version that its author was looking at. `left_out`: why a current one does
    not count, or null where it does."""
    return {
        **brief(one),
        "detector_version": one.version,
        "parameters": one.parameters,
        "text": one.text,
        "techniques": list(one.techniques),
        "numbers": one.numbers,
        "evidence": evidence(one.evidence),
        "current": current,
        "left_out": left_out,
        "version": came.number,
        "branch": came.branch,
        "author": author(came.author),
        "looking_at": place(came.seen, came.seen_id),
    }


def observed(one: Observation, number: int) -> Shape:
    """An observation; `version` is the number of the version that brought it."""
    return {
        "id": one.id,
        "kind": one.kind,
        "at": time(one.at),
        "flags": list(one.flags),
        "origin": one.origin,
        "redaction": one.redaction,
        "data": one.data,
        "text": one.text,
        "version": number,
    }
