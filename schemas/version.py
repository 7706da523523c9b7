"""StateVersion: one immutable moment of a case's state.

The header is what the id is the digest of. Contents travel beside it, each proved by its own id, so that a content can
be destroyed when it must be and the chain still verifies.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.canonical import canonical_finite
from schemas.digests import ANALYSIS, OBSERVATION, VERSION, digest
from schemas.errors import IdMismatch, RecordInvalid, UnknownType
from schemas.keys import case_key
from schemas.observation import Observation
from schemas.record import Record
from schemas.scales import FLOOR, LIMIT


class Author(Record):
    """Who made a version: a detector set, a merger, a person, or `none` for the empty state."""

    kind: Literal["none", "detectors", "merger", "person"]
    name: str = Field(max_length=256)
    version: str = Field(default="", max_length=64)


class Header(Record):
    """What a version's id is the digest of. `number` is null on a branch. `parents`: of a branch the version its author
    looked at; of a merged version the one before it, then the branches it took in. `inputs` and `analyses` are the ids
    it adds, sorted. `at` is when it was made, microseconds."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    tenant: str
    subject: str
    number: int | None = Field(default=None, ge=0)
    parents: tuple[str, ...]
    inputs: tuple[str, ...]
    analyses: tuple[str, ...]
    assessment_digest: str | None = None
    author: Author
    at: int = Field(ge=FLOOR, lt=LIMIT)

    @property
    def case(self) -> str:
        """The key of its case."""
        return case_key(self.tenant, self.subject)

    def version_id(self, secret: bytes | None = None) -> str:
        """The id of the version that has this header."""
        # as `model_dump` by alias has it, without a copy: what was validated strictly is JSON already
        fields = {**vars(self), "schema": self.schema_, "author": vars(self.author)}
        del fields["schema_"]
        return digest(VERSION, canonical_finite(fields), secret)


class Content(Record):
    """One observation or analysis in its envelope: `body` is the record in plain (`key_id` null), `sealed` the same
    encrypted, and neither is left of one that was destroyed."""

    id: str
    key_id: str | None = None
    body: dict[str, Any] | None = None
    sealed: str | None = None

    def opened(self, secret: bytes | None = None) -> Observation | Analysis:
        """The record inside, proved by its id.

        Raises IdMismatch where the id is not the content's, UnknownType where it is of no known type, RecordInvalid
        where it is malformed, sealed or destroyed.
        """
        if self.body is None:
            raise RecordInvalid("the content is sealed or was destroyed")
        prefix = self.id.partition("_")[0]
        if prefix == OBSERVATION:
            record: Observation | Analysis = Observation.load(self.body).proven(secret)
        elif prefix == ANALYSIS:
            record = Analysis.load(self.body).proven(secret)
        else:
            raise UnknownType("a content is neither an observation nor an analysis")
        if record.id != self.id:
            raise IdMismatch("a content stands under another id than its own")
        return record


class StateVersion(Record):
    """A version as it travels: header, id, the assessment (null on a branch), contents, and on a merged version the
    headers of the branches it took in, by id."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: str
    header: Header
    assessment: Assessment | None = None
    branches: dict[str, Header] = Field(default_factory=dict)
    contents: tuple[Content, ...] = ()

    @property
    def tenant(self) -> str:
        """The tenant of its case."""
        return self.header.tenant

    @property
    def subject(self) -> str:
        """The subject of its case."""
        return self.header.subject

    @property
    def case(self) -> str:
        """The key of its case."""
        return self.header.case

    @property
    def number(self) -> int:
        """Its place on the case's line. Raises RecordInvalid on a branch, which has none."""
        if self.header.number is None:
            raise RecordInvalid("a branch version has no number")
        return self.header.number

    def encode(self) -> bytes:
        """The bytes for the tape."""
        return self.model_dump_json(by_alias=True).encode()

    def proven(self, secret: bytes | None = None) -> Self:
        """Itself, after its id, its assessment's digest and its branches' ids were recomputed. Contents are proved one
        by one with `Content.opened`. Raises IdMismatch."""
        if self.header.version_id(secret) != self.id:
            raise IdMismatch("a version's id is not the digest of its header")
        expected = None if self.assessment is None else self.assessment.digest()
        if expected != self.header.assessment_digest:
            raise IdMismatch("a version's assessment is not the one its header names")
        for identifier, branch in self.branches.items():
            if branch.version_id(secret) != identifier or identifier not in self.header.parents:
                raise IdMismatch("a version's branch header is not one of its parents")
        return self


def genesis(tenant: str, subject: str) -> Header:
    """The header of version 0, the empty state: implicit, never published, the same wherever it is computed."""
    return Header(
        tenant=tenant,
        subject=subject,
        number=0,
        parents=(),
        inputs=(),
        analyses=(),
        author=Author(kind="none", name=""),
        at=0,
    )
