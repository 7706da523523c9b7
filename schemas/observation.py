"""Observation: something noticed. Evidence, never edited."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic_core import to_json

from schemas.canonical import Json, canonical_bytes
from schemas.digests import OBSERVATION, digest
from schemas.errors import IdMismatch, RecordInvalid
from schemas.keys import TENANT_PATTERN, case_key, valid_subject
from schemas.record import SCHEMA, Record, depth
from schemas.scales import FLOOR, LIMIT

TEXT = "text"
Flag = Literal["clock", "no_time"]
DEPTH_LIMIT = 128
"""A foreign record nests at most this deep, so that a version, which wraps it, can still be read (the reader stops at
200 levels)."""


class ObservationContent(Record):
    """What was noticed: a foreign record as it came, or text, or (`sealed`) either of them encrypted, in base64."""

    data: dict[str, Any] | None = None
    text: str | None = None
    sealed: str | None = None


class Observation(Record):
    """One observation.

    `id` is the digest of tenant, subject, kind, at, content and origin; a producer may leave it out. `at` is event time
    in microseconds since the epoch, or null. `flags`: `clock` (the time is implausible), `no_time` (there is none that
    can be used). `origin` is the sensor's or feed's name, for text the request id: never a file offset. `redaction`
    names the transform that ran before the id was computed. `key_id` names the key that sealed the content; null means
    it is plain.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(alias="schema")
    flags: tuple[Flag, ...] = ()
    redaction: str | None = None
    key_id: str | None = None
    id: str = ""
    at: int | None = Field(default=None, ge=FLOOR, lt=LIMIT)
    content: ObservationContent
    kind: str = Field(min_length=1, max_length=128)
    origin: str = Field(default="", max_length=512)
    subject: str
    tenant: str = Field(pattern=TENANT_PATTERN)

    @field_validator("subject")
    @classmethod
    def _subject(cls, value: str) -> str:
        if not valid_subject(value):
            raise ValueError("not a subject: 1 to 512 printable characters")
        return value

    @model_validator(mode="after")
    def _content(self) -> Self:
        content = self.content
        if (content.data is None) + (content.text is None) + (content.sealed is None) != 2:
            raise ValueError("content: exactly one of data, text and sealed must be given")
        if (self.key_id is None) != (self.content.sealed is None):
            raise ValueError("sealed content names its key_id, and only sealed content does")
        return self

    @classmethod
    def parse(cls, value: bytes) -> Self:
        """As every record's; raises RecordInvalid as well for a foreign record that is nested too deeply."""
        record = super().parse(value)
        # counting brackets is a lower price than walking every record, and few have so many
        if value.count(b"[") + value.count(b"{") > DEPTH_LIMIT and depth(record.data) > DEPTH_LIMIT:
            raise RecordInvalid(f"not a valid Observation record (content.data: deeper than {DEPTH_LIMIT} levels)")
        return record

    @property
    def data(self) -> dict[str, Any] | None:
        """The foreign record, or None for text and for sealed content."""
        return self.content.data

    @property
    def text(self) -> str | None:
        """The text, or None for a foreign record and for sealed content."""
        return self.content.text

    @property
    def case(self) -> str:
        """The key of the case it belongs to."""
        return case_key(self.tenant, self.subject)

    def identity(self) -> Json:
        """What the id is the digest of. Raises RecordInvalid for sealed content, which must be opened first."""
        if self.content.sealed is not None:
            raise RecordInvalid("the content is sealed: open it with its key first")
        content = {"data": self.content.data} if self.content.data is not None else {"text": self.content.text}
        return identity(self.tenant, self.subject, self.kind, self.at, content, self.origin)

    def encode(self) -> bytes:
        """The bytes for the tape. Raises RecordInvalid for sealed content."""
        body = canonical_bytes(self.identity())
        return layout(body, self.id or digest(OBSERVATION, body), self.flags, self.redaction)

    def proven(self, secret: bytes | None = None) -> Self:
        """Itself, with its id computed where it had none. Raises IdMismatch where the id is not the content's."""
        if self.content.sealed is not None:
            return self
        computed = digest(OBSERVATION, canonical_bytes(self.identity()), secret)
        if self.id == computed:
            return self
        if self.id:
            raise IdMismatch("an observation's id is not the digest of its content")
        return self.model_copy(update={"id": computed})


def identity(tenant: str, subject: str, kind: str, at: int | None, content: Json, origin: str) -> dict[str, Json]:
    """The part of an observation that its id is the digest of; `content` is {"data": …} or {"text": …}."""
    return {"at": at, "content": content, "kind": kind, "origin": origin, "subject": subject, "tenant": tenant}


def layout(body: bytes, identifier: str, flags: tuple[str, ...] = (), redaction: str | None = None) -> bytes:
    """An observation's bytes on the tape around its canonical identity `body`, which is written once."""
    return b'{"schema":%d,"flags":%b,"redaction":%b,"key_id":null,"id":"%b",%b' % (
        SCHEMA,
        to_json(flags),
        to_json(redaction),
        identifier.encode(),
        body[1:],
    )
