"""Assessment: the merged view of a case that a policy makes of its current analyses."""

from __future__ import annotations

from pydantic import Field

from schemas.canonical import Json, canonical_bytes
from schemas.digests import ASSESSMENT, digest, set_digest
from schemas.record import Record
from schemas.scales import MILLION
from schemas.verdicts import Severity, Verdict

SHOWN = 16
"""An assessment names at most this many analyses and conflicts; totals and a digest stand for the rest, so that the
cost of a version does not grow with the case."""


class Conflict(Record):
    """Analyses that contradict each other about one target: at most 16 ids, benign and malicious."""

    target: str
    analyses: tuple[str, ...] = Field(max_length=SHOWN)


class Assessment(Record):
    """Verdict, score (millionths) and severity; what they rest on and what contradicts; who decided, and how.

    `counted`: ids of the analyses the result rests on, the heaviest 16, sorted; `counted_total` and `counted_digest`
    stand for all of them. `conflicts`: the first 16 by target; `conflicts_total` counts all. `review`: why a person
    should look. `policy` and `options` say how to get the same again.
    """

    verdict: Verdict
    score: int = Field(ge=0, le=MILLION)
    severity: Severity
    counted: tuple[str, ...] = Field(max_length=SHOWN)
    counted_total: int = Field(ge=0)
    counted_digest: str
    conflicts: tuple[Conflict, ...] = Field(default=(), max_length=SHOWN)
    conflicts_total: int = Field(default=0, ge=0)
    review: tuple[str, ...] = ()
    policy: str
    options: dict[str, Json] = Field(default_factory=dict)

    def digest(self) -> str:
        """Its own digest, which a version's header carries."""
        return digest(ASSESSMENT, canonical_bytes(self.model_dump(mode="json")))


EMPTY_SET = set_digest(())
