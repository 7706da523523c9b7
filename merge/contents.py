"""Contents between the tape, the store and the reducers: bytes in, proved or trusted records out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from engines.store import StoredContent, StoredVersion
from merge.state import Kept
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.digests import ANALYSIS, OBSERVATION
from schemas.errors import RecordInvalid
from schemas.observation import Observation
from schemas.record import Record
from schemas.version import Content, Header, StateVersion

_EMPTY_CONTENTS = b'"contents":[]}'


class _KeptObservation(Record):
    id: str
    key_id: str | None = None
    body: Observation | None = None
    sealed: str | None = None


class _KeptAnalysis(Record):
    id: str
    key_id: str | None = None
    body: Analysis | None = None
    sealed: str | None = None


class _Numbered(msgspec.Struct):
    number: int | None = None


class _Outline(msgspec.Struct):
    id: str
    header: _Numbered
    contents: list[msgspec.Raw] = []


class _Named(msgspec.Struct):
    id: str


_outline = msgspec.json.Decoder(_Outline).decode
_named = msgspec.json.Decoder(_Named).decode
_UNREADABLE = (msgspec.MsgspecError, RecursionError)
"""What they raise: for bytes that are nothing of the kind, and for too many levels."""


class NewContent(NamedTuple):
    """A content on its way into a case: the analysis (None: it is an observation, which nobody looks into), and the
    bytes of its envelope as the store and the tape keep it."""

    id: str
    analysis: Analysis | None
    envelope: bytes


def envelope(content: Content) -> bytes:
    """The bytes of a content."""
    return content.model_dump_json().encode()


def read_stored(identifier: str, body: bytes) -> Kept | None:
    """The record in a stored content, trusted as it lies (`merge.verify` is what proves it); None where it was
    destroyed. Raises RecordInvalid where it cannot be read."""
    kept = (_KeptAnalysis if is_analysis(identifier) else _KeptObservation).parse(body)
    if kept.body is None and kept.sealed is not None:
        raise RecordInvalid(f"content {identifier} is sealed")
    if kept.body is not None and not kept.body.id:
        return kept.body.model_copy(update={"id": identifier})
    return kept.body


def is_analysis(identifier: str) -> bool:
    """Whether an id is an analysis's."""
    return identifier.startswith(ANALYSIS + "_")


def is_input(identifier: str) -> bool:
    """Whether an id is an observation's."""
    return identifier.startswith(OBSERVATION + "_")


def bare_record(identifier: str, header: Header, assessment: Assessment, branches: Mapping[str, bytes]) -> bytes:
    """A merged version's bytes for the store: without contents, which lie beside it. The same bytes as
    `StateVersion.encode` without contents, put together from its parts, since the headers of its `branches` (their
    JSON, by id) are at hand."""
    return b'{"schema":1,"id":"%b","header":%b,"assessment":%b,"branches":{%b},%b' % (
        identifier.encode(),
        header.in_full(),
        assessment.in_full(),
        b",".join([b'"%b":%b' % (one.encode(), json) for one, json in branches.items()]),
        _EMPTY_CONTENTS,
    )


def tape_record(record: bytes, envelopes: Sequence[bytes]) -> bytes:
    """A version's bytes for the tape, put together from `bare_record` and the contents in the order of `carried`:
    the same bytes as `StateVersion.encode` of the whole. Raises RecordInvalid."""
    if not record.endswith(_EMPTY_CONTENTS):
        raise RecordInvalid("a stored version does not end in its empty contents")
    return record[: -len(b"]}")] + b",".join(envelopes) + b"]}"


def parted(value: bytes) -> StoredVersion:
    """What `tape_record` was made from: the version as the store keeps it, with its contents. Raises RecordInvalid
    where the bytes are no merged version in the form in which the merger writes it."""
    try:
        outline = _outline(value)
        bodies = [bytes(one) for one in outline.contents]
        contents = [StoredContent(_named(body).id, body) for body in bodies]
    except _UNREADABLE as error:
        raise RecordInvalid(f"not a merged version ({error})") from error
    size = sum(map(len, bodies)) + max(0, len(bodies) - 1)
    record = value[: len(value) - size - len(b"]}")] + b"]}"
    if outline.header.number is None or not record.endswith(_EMPTY_CONTENTS) or tape_record(record, bodies) != value:
        raise RecordInvalid("not a merged version in the merger's own form")
    return StoredVersion(outline.header.number, outline.id, record, contents)


def outlined(value: bytes) -> tuple[int | None, str]:
    """Number and id that a version's bytes name, unproved. Raises RecordInvalid."""
    try:
        outline = _outline(value)
    except _UNREADABLE as error:
        raise RecordInvalid(f"not a version ({error})") from error
    return outline.header.number, outline.id


def carried(version: StateVersion) -> tuple[str, ...]:
    """The ids of a version's contents, sorted: the order they travel in."""
    return tuple(sorted(version.header.inputs + version.header.analyses))


def opened(version: StateVersion, secret: bytes | None = None) -> Iterable[Kept]:
    """The records in a version's contents, proved. Raises what `Content.opened` raises."""
    return [content.opened(secret) for content in version.contents]
