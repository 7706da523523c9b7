"""Branch versions in exactly the bytes that `StateVersion.encode` writes, which nearly all of them are: read and proved
at a quarter of the price.

Each part is read strictly and written out again; where the parts, put together, are the bytes that came, nothing else
can be read in those, and a content's bytes are its envelope. The rules are those of `Header`, `Content`, `Analysis` and
`Observation`: of an analysis its model is needed anyway, of the others nobody here does. What is otherwise in any way,
be it wrong or only written by another hand, is `None`, and left to the models, which explain themselves.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec
from pydantic_core import from_json, to_json

from merge.contents import NewContent, is_analysis, is_input
from schemas.analysis import Analysis
from schemas.canonical import canonical_finite
from schemas.digests import OBSERVATION, VERSION, digest
from schemas.errors import IdMismatch, InputError
from schemas.keys import case_key
from schemas.observation import DEPTH_LIMIT, Flag, identity
from schemas.scales import FLOOR, LIMIT

_Time = Annotated[int, msgspec.Meta(ge=FLOOR, lt=LIMIT)]


class _Author(msgspec.Struct):
    kind: Literal["detectors", "person"]
    name: Annotated[str, msgspec.Meta(max_length=256)]
    version: Annotated[str, msgspec.Meta(max_length=64)]


class WrittenHeader(msgspec.Struct):
    """What `schemas.version.Header` is of a branch."""

    schema: Literal[1]
    tenant: str
    subject: str
    number: None
    parents: tuple[str, ...]
    inputs: tuple[str, ...]
    analyses: tuple[str, ...]
    assessment_digest: None
    author: _Author
    at: _Time

    @property
    def case(self) -> str:
        """The key of its case."""
        return case_key(self.tenant, self.subject)


class _Noticed(msgspec.Struct):
    data: msgspec.Raw
    text: str | None
    sealed: None


class _Observation(msgspec.Struct):
    schema: Literal[1]
    flags: tuple[Flag, ...]
    redaction: str | None
    key_id: None
    id: str
    at: _Time | None
    content: _Noticed
    kind: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    origin: Annotated[str, msgspec.Meta(max_length=512)]
    subject: str
    tenant: str


class _Content(msgspec.Struct):
    id: str
    body: msgspec.Raw


class _Outline(msgspec.Struct):
    id: str
    header: WrittenHeader
    contents: list[_Content]


class Written(NamedTuple):
    """A branch version as it lies: nothing of it is proved yet, and whether it may be one is not looked at."""

    id: str
    header: WrittenHeader
    header_json: bytes
    bodies: list[tuple[str, bytes, bytes]]
    """Of each content its id, what is in the envelope, and the envelope."""

    def proven(self, secret: bytes | None) -> tuple[NewContent, ...] | None:
        """Its contents, where its id and theirs hold, and they are of its case; else None."""
        if digest(VERSION, canonical_finite(self.header), secret) != self.id:
            return None
        case = (self.header.tenant, self.header.subject)
        try:
            return tuple(
                [NewContent(one, _proven(one, body, case, secret), envelope) for one, body, envelope in self.bodies]
            )
        except (InputError, *_UNREADABLE):
            return None


_outline = msgspec.json.Decoder(_Outline).decode
_observation = msgspec.json.Decoder(_Observation).decode
_encode = msgspec.json.Encoder().encode
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What the readers raise: for bytes that are nothing of the kind, half of a surrogate pair, and too many levels."""


def written(value: bytes) -> Written | None:
    """The branch version, where `value` is exactly what its `encode` gives; else None."""
    try:
        outline = _outline(value)
        header_json = _encode(outline.header)
        bodies = [_enveloped(one.id, bytes(one.body)) for one in outline.contents]
        envelopes = b",".join([envelope for _, _, envelope in bodies])
        whole = b'{"schema":1,"id":"%b","header":%b,"assessment":null,"branches":{},"contents":[%b]}' % (
            outline.id.encode(),
            header_json,
            envelopes,
        )
    except _UNREADABLE:
        return None
    return Written(outline.id, outline.header, header_json, bodies) if whole == value else None


def _enveloped(identifier: str, body: bytes) -> tuple[str, bytes, bytes]:
    return identifier, body, b'{"id":"%b","key_id":null,"body":%b,"sealed":null}' % (identifier.encode(), body)


def _proven(identifier: str, body: bytes, case: tuple[str, str], secret: bytes | None) -> Analysis | None:
    """The analysis; of an observation only that nothing is wrong with it. Raises IdMismatch, RecordInvalid and what
    msgspec and pydantic's reader raise."""
    if is_analysis(identifier):
        analysis = Analysis.parse(body)
        said = analysis.proven(secret).id, (analysis.tenant, analysis.subject), analysis.in_full()
        if said != (identifier, case, body):
            raise IdMismatch
        return analysis
    if not is_input(identifier):
        raise IdMismatch
    seen = _observation(body)
    said = _id_of(seen, secret), (seen.tenant, seen.subject), _encode(seen)
    if seen.id != identifier or said != (identifier, case, body):
        raise IdMismatch
    return None


def _id_of(seen: _Observation, secret: bytes | None) -> str:
    """The digest of its content. Raises IdMismatch where that is not in the one form in which it is written."""
    data, text = bytes(seen.content.data), seen.content.text
    if data == b"null" and text is not None:
        content: dict[str, object] = {"text": text}
    elif text is None and data.startswith(b"{") and data.count(b"[") + data.count(b"{") <= DEPTH_LIMIT:
        content = {"data": from_json(data)}
        # no number that is not finite is written so, and no key twice
        if to_json(content["data"], inf_nan_mode="strings") != data:
            raise IdMismatch
    else:
        raise IdMismatch
    said = identity(seen.tenant, seen.subject, seen.kind, seen.at, content, seen.origin)
    return digest(OBSERVATION, canonical_finite(said), secret)
