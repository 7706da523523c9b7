"""Reading and proving an observation at half the price: nearly all that the tape holds is well-formed.

`msgspec` checks exactly what the model checks and builds the model's parts; whatever it does not take goes to the model
itself, which decides and finds the words. `tests/unit/detection/test_reading.py` holds the two against each other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from schemas.canonical import canonical_bytes
from schemas.digests import HEX_LENGTH, OBSERVATION, digest
from schemas.errors import IdMismatch, RecordInvalid, RecordTooLarge
from schemas.keys import valid_subject, valid_tenant
from schemas.observation import DEPTH_LIMIT, Observation, ObservationContent, identity
from schemas.record import CONTENT_LIMIT
from schemas.scales import FLOOR, LIMIT


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    data: dict[str, Any] | None = None
    text: str | None = None
    sealed: str | None = None


class _Plain(msgspec.Struct, forbid_unknown_fields=True):
    schema: Literal[1]
    content: _Content
    kind: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    subject: str
    tenant: str
    flags: tuple[Literal["clock", "no_time"], ...] = ()
    redaction: str | None = None
    key_id: None = None
    id: str = ""
    at: Annotated[int, msgspec.Meta(ge=FLOOR, lt=LIMIT)] | None = None
    origin: Annotated[str, msgspec.Meta(max_length=512)] = ""


_ID = re.compile(rf"{OBSERVATION}_[0-9a-f]{{{HEX_LENGTH}}}\Z")
_decode = msgspec.json.Decoder(_Plain).decode
_new, _set = object.__new__, object.__setattr__
# shared by all that is read: the models are frozen, so nobody adds to them
_FIELDS = set(Observation.model_fields)
_CONTENT_FIELDS = set(ObservationContent.model_fields)


def read(value: bytes, secret: bytes | None = None) -> Observation:
    """The observation that these bytes hold, with its id proved or computed; raises what `Observation.parse` and
    `proven` raise, and RecordTooLarge. What is sealed can be proved by nobody without its key: it needs an id."""
    try:
        plain = _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _slowly(value, secret)
    content = plain.content
    one_content = (content.data is None) is not (content.text is None) and content.sealed is None
    if not one_content or not _named(plain.tenant, plain.subject):
        return _slowly(value, secret)
    if value.count(b"[") + value.count(b"{") > DEPTH_LIMIT:
        return _slowly(value, secret)
    held = {"text": content.text} if content.data is None else {"data": content.data}
    body = canonical_bytes(identity(plain.tenant, plain.subject, plain.kind, plain.at, held, plain.origin))
    return _built(plain, _proved(plain.id, body, secret))


def _slowly(value: bytes, secret: bytes | None) -> Observation:
    observation = Observation.parse(value)
    if observation.content.sealed is not None:
        if not _ID.match(observation.id):
            raise RecordInvalid("sealed content needs an id")
        _fits(len(value))
        return observation
    identifier = _proved(observation.id, canonical_bytes(observation.identity()), secret)
    return observation.model_copy(update={"id": identifier})


def _proved(identifier: str, body: bytes, secret: bytes | None) -> str:
    _fits(len(body))
    computed = digest(OBSERVATION, body, secret)
    if identifier and identifier != computed:
        raise IdMismatch("an observation's id is not the digest of its content")
    return computed


def _fits(size: int) -> None:
    if size > CONTENT_LIMIT:
        raise RecordTooLarge(f"the record has {size} bytes of content; at most {CONTENT_LIMIT} fit")


def _built(plain: _Plain, identifier: str) -> Observation:
    """What the model's own constructor without validation (`model_construct`) sets, at a fraction of its price."""
    content = plain.content
    held = _new(ObservationContent)
    _set(held, "__dict__", {"data": content.data, "text": content.text, "sealed": None})
    _set(held, "__pydantic_fields_set__", _CONTENT_FIELDS)
    _set(held, "__pydantic_extra__", None)
    _set(held, "__pydantic_private__", None)
    made = _new(Observation)
    fields = {
        "schema_": 1,
        "flags": plain.flags,
        "redaction": plain.redaction,
        "key_id": None,
        "id": identifier,
        "at": plain.at,
        "content": held,
        "kind": plain.kind,
        "origin": plain.origin,
        "subject": plain.subject,
        "tenant": plain.tenant,
    }
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", _FIELDS)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


@lru_cache(maxsize=65_536)
def _named(tenant: str, subject: str) -> bool:
    return valid_tenant(tenant) and valid_subject(subject)
