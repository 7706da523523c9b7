"""Quarantined: what could not be used, kept with its bytes, a reason and where it came from."""

from __future__ import annotations

import base64
from typing import Any, Literal

from pydantic import ConfigDict, Field

from schemas.canonical import canonical_bytes
from schemas.digests import QUARANTINED, digest
from schemas.record import Record
from schemas.scales import FLOOR, LIMIT

PREFIX_LIMIT = 64 * 1024
"""Of what is larger than a record may be, this much is kept, with the digest and length of the whole."""


class Source(Record):
    """Where it came from: a file and line, or a topic, partition and offset; and the feed's choices, for a requeue."""

    file: str | None = None
    line: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class Quarantined(Record):
    """One quarantined thing.

    `what`: `input` (a line or file of a feed), `record` (a record on a topic) or `result` (a plug-in failed on it: the
    record itself went on). `code` is the error's stable code, `reason` the sentence for people. `payload` is base64 of
    the bytes (after redaction), a prefix where `cut`; `size` and `payload_digest` are those of the whole.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    id: str
    tenant: str
    subject: str | None = None
    what: Literal["input", "record", "result"]
    code: str
    reason: str
    author: str
    source: Source
    payload: str
    cut: bool = False
    size: int = Field(ge=0)
    payload_digest: str
    at: int = Field(ge=FLOOR, lt=LIMIT)

    @property
    def data(self) -> bytes:
        """The bytes (or their prefix, where `cut`)."""
        return base64.b64decode(self.payload)

    def encode(self) -> bytes:
        """The bytes for the tape."""
        return self.model_dump_json(by_alias=True).encode()


def quarantined(
    tenant: str,
    what: Literal["input", "record", "result"],
    code: str,
    reason: str,
    data: bytes,
    source: Source,
    *,
    author: str,
    at: int,
    subject: str | None = None,
    whole: tuple[int, str] | None = None,
) -> Quarantined:
    """The record for `data`; its id names the same fault of the same bytes from the same place, so that a repeat after
    a crash is recognised. `whole`: size and digest of what `data` is only a prefix of."""
    size, payload_digest = (len(data), digest(QUARANTINED, data)) if whole is None else whole
    identity = {
        "tenant": tenant,
        "what": what,
        "code": code,
        "source": source.model_dump(mode="json"),
        "data": payload_digest,
        "author": author,
    }
    return Quarantined(
        id=digest(QUARANTINED, canonical_bytes(identity)),
        tenant=tenant,
        subject=subject,
        what=what,
        code=code,
        reason=reason,
        author=author,
        source=source,
        payload=base64.b64encode(data[:PREFIX_LIMIT]).decode(),
        cut=min(len(data), PREFIX_LIMIT) < size,
        size=size,
        payload_digest=payload_digest,
        at=at,
    )
