"""A person's word on a case as an analysis, one among the others. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from schemas.analysis import Analysis, Evidence
from schemas.canonical import canonical_bytes
from schemas.digests import PARAMETERS, digest
from schemas.errors import UsageError
from schemas.keys import CaseKey
from schemas.persons import NAME_LIMIT, WHOLE_CASE, detector_of, person_of, valid_person
from schemas.scales import MILLION
from schemas.verdicts import Verdict
from schemas.version import Author, Content, Header, StateVersion

TEXT_LIMIT = 65_536
SCORES: dict[Verdict, int] = {"benign": 0, "unknown": 0, "suspicious": 600_000, "malicious": 900_000}
"""How bad a case is, in millionths, that a person calls so and says no more: nothing, medium, high."""
_TITLE = 512
_NEAR = 3
_LOOKED_AT = 2_000
"""Of more fingerprints the comparison letter by letter would take seconds."""


@dataclass(frozen=True, slots=True)
class Word:
    """What a person says, and why. `score` and `confidence` in millionths; `score` None: that of `SCORES`."""

    by: str
    verdict: Verdict
    why: str
    fingerprint: str = WHOLE_CASE
    score: int | None = None
    confidence: int = MILLION
    request_id: str | None = None

    def __post_init__(self) -> None:
        check_person(self.by)
        check_text("--why", self.why)
        check_text("--fingerprint", self.fingerprint)
        for name, value in (("score", self.score), ("confidence", self.confidence)):
            if value is not None and not 0 <= value <= MILLION:
                raise UsageError(f"the {name} is not a number from 0 to 1")


def check_person(name: str) -> None:
    """Raises UsageError for what cannot be a person's name."""
    if not valid_person(name):
        raise UsageError(
            f"the name of whoever says it cannot be used: 1 to {NAME_LIMIT} printable characters, no space at either"
            " end; give one with --by"
        )


def check_text(what: str, text: str) -> None:
    """Raises UsageError, which begins with `what`, where there is nothing in a text, or too much, or no text."""
    if not text.strip():
        raise UsageError(f"{what}: there is nothing in it")
    if len(text) > TEXT_LIMIT:
        raise UsageError(f"{what}: {len(text)} characters; at most {TEXT_LIMIT} fit")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what}: it is not UTF-8") from None


def spoken(case: CaseKey, word: Word, about: Collection[Analysis], evidence: Evidence, at: int) -> Analysis:
    """The analysis. `about`: the current analyses that have its fingerprint; its target is theirs, and of several that
    differ the newest one's. `at`: the time of the request, microseconds."""
    targets = [one.target for one in sorted(about, key=lambda one: one.order) if one.target is not None]
    asked = {} if word.request_id is None else {"request_id": word.request_id}
    return Analysis(
        tenant=case.tenant,
        subject=case.subject,
        detector=detector_of(word.by),
        version="",
        parameters=digest(PARAMETERS, canonical_bytes(asked)),
        fingerprint=word.fingerprint,
        target=targets[-1] if targets else None,
        verdict=word.verdict,
        score=SCORES[word.verdict] if word.score is None else word.score,
        confidence=word.confidence,
        title=f"{word.by}: {word.why.strip().splitlines()[0]}"[:_TITLE],
        text=word.why,
        evidence=evidence,
        at=at,
    ).identified()


def newest_said(about: Collection[Analysis]) -> int | None:
    """The time of the newest that any person says in these analyses, or None."""
    return max((one.at for one in about if one.at is not None and person_of(one.detector) is not None), default=None)


def branch_of(analysis: Analysis, by: str, parent: str, at: int) -> StateVersion:
    """The branch version that brings it, on top of the version its author was looking at; made at `at`."""
    header = Header(
        tenant=analysis.tenant,
        subject=analysis.subject,
        parents=(parent,),
        inputs=(),
        analyses=(analysis.id,),
        author=Author(kind="person", name=by),
        at=at,
    )
    content = Content(id=analysis.id, body=analysis.model_dump(mode="json", by_alias=True))
    return StateVersion(id=header.version_id(), header=header, contents=(content,))


def near(wanted: str, known: Collection[str]) -> Sequence[str]:
    """Fingerprints that were probably meant: those that hold what was given or are held by it, then similar ones."""
    lower = wanted.casefold()
    held = sorted(one for one in known if lower in one.casefold() or one.casefold() in lower)
    similar = difflib.get_close_matches(wanted, sorted(known)[:_LOOKED_AT], n=_NEAR, cutoff=0.4)
    return list(dict.fromkeys([*held, *similar]))[:_NEAR]
