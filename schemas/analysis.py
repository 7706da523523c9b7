"""Analysis: what one detector, model or person makes of observations. Interpretation, kept apart from evidence."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field

from schemas.canonical import Json, canonical_bytes, canonical_finite
from schemas.digests import ANALYSIS, digest, set_digest
from schemas.errors import IdMismatch
from schemas.record import INT64, Record
from schemas.scales import FLOOR, LIMIT, MILLION
from schemas.verdicts import Severity, Verdict, severity_of

Scaled = Annotated[int, Field(ge=-INT64, lt=INT64)]
SAMPLE_SMALLEST = 8
"""A sample holds the first and the last observation and this many of the smallest ids."""


class Evidence(Record):
    """The observations an analysis rests on: how many, from when to when (event time, microseconds), a sample of ids
    (first, last, the 8 smallest) and the digest of the whole set of ids."""

    total: int = Field(ge=0)
    first: int | None = Field(default=None, ge=FLOOR, lt=LIMIT)
    last: int | None = Field(default=None, ge=FLOOR, lt=LIMIT)
    sample: tuple[str, ...] = Field(default=(), max_length=SAMPLE_SMALLEST + 2)
    set_digest: str


class AnalysisKey(NamedTuple):
    """What an analysis competes for: of one detector and fingerprint only the newest is current."""

    detector: str
    fingerprint: str


class Analysis(Record):
    """One analysis. `id` is the digest of all other fields. `score` and `confidence` are millionths, `numbers` scaled
    integers whose scale the detector documents, `at` event time in microseconds (a person's: of the request)."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: str = ""
    tenant: str
    subject: str
    detector: str = Field(min_length=1, max_length=128)
    version: str = Field(max_length=64)
    parameters: str
    fingerprint: str = Field(min_length=1, max_length=1024)
    target: str | None = Field(default=None, max_length=1024)
    verdict: Verdict
    score: int = Field(ge=0, le=MILLION)
    confidence: int = Field(ge=0, le=MILLION)
    title: str = Field(max_length=512)
    text: str = Field(default="", max_length=65_536)
    techniques: tuple[str, ...] = ()
    numbers: dict[str, Scaled] = Field(default_factory=dict)
    evidence: Evidence
    at: int | None = Field(default=None, ge=FLOOR, lt=LIMIT)
    provisional: bool = False

    @property
    def key(self) -> AnalysisKey:
        """Detector and fingerprint."""
        return AnalysisKey(self.detector, self.fingerprint)

    @property
    def weight(self) -> int:
        """score x confidence in millionths, rounded down."""
        return self.score * self.confidence // MILLION

    @property
    def severity(self) -> Severity:
        """The severity of its own score."""
        return severity_of(self.score)

    @property
    def order(self) -> tuple[int, bool, int, str]:
        """The greatest of a key is current: by event time (none is oldest), final over provisional, evidence, id."""
        return (FLOOR - 1 if self.at is None else self.at, not self.provisional, self.evidence.total, self.id)

    def identity(self) -> Json:
        """What the id is the digest of: every field but the id."""
        return self.model_dump(mode="json", by_alias=True, exclude={"id"})

    def identified(self, secret: bytes | None = None) -> Self:
        """Itself with its id computed."""
        return self.model_copy(update={"id": digest(ANALYSIS, canonical_bytes(self.identity()), secret)})

    def proven(self, secret: bytes | None = None) -> Self:
        """Itself. Raises IdMismatch where its id is not the digest of the rest."""
        if digest(ANALYSIS, canonical_finite(self._fields()), secret) != self.id:
            raise IdMismatch("an analysis's id is not the digest of its content")
        return self

    def _fields(self) -> dict[str, object]:
        """What `identity` is of a record that was validated, at an eighth of the price: nothing is copied, and what
        was validated strictly is JSON already but for the tuples, which the encoder takes."""
        fields = {**vars(self), "schema": self.schema_, "evidence": vars(self.evidence)}
        del fields["schema_"], fields["id"]
        return fields


def evidence_of(ids_and_times: list[tuple[str, int | None]]) -> Evidence:
    """The evidence made of these observations (id, event time in microseconds or None); repeats count once."""
    times: dict[str, int | None] = dict(ids_and_times)
    timed = sorted((at, one) for one, at in times.items() if at is not None)
    smallest = sorted(times)[:SAMPLE_SMALLEST]
    ends = {timed[0][1], timed[-1][1]} if timed else set()
    return Evidence(
        total=len(times),
        first=timed[0][0] if timed else None,
        last=timed[-1][0] if timed else None,
        sample=tuple(sorted(ends.union(smallest))),
        set_digest=set_digest(times),
    )
