"""How values lie in Redis. Pure.

A blob: one byte that says how it is kept (0 as it is, 1 zstd), then the bytes.
A version: how many bytes its id takes (one byte), the id, then its record as a blob.
What a version brought: how many contents (4 bytes, little-endian), then their frame (`engines.packing`) as a blob.
A row of the index: 16 bytes of its place in the orders, the number, a space, and the other fields as a JSON array.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from engines.ids import pack_id, unpack_id
from engines.packing import frame, pack, unframe, unpack
from engines.store import CaseOrder, CaseRow, StoredContent, StoredVersion
from schemas.errors import EngineError

ROW_FIELDS = ("number", "id", "verdict", "severity", "score", "analyses", "conflicts", "updated_at", "subject")
"""Fields of a case's head that make its row."""
PLACE = 16
BEFORE: Mapping[CaseOrder, tuple[str, int]] = {
    "score": ("by-score", 16),
    "updated": ("by-updated", 8),
    "key": ("by-key", 0),
}
"""By order: the key of its zset, and how many bytes of the place stand before the case there."""
_LAST = 2**63 - 1


def short(identifier: str) -> bytes:
    """An id as it lies in Redis: that of a digest takes 35 bytes, any other has an equals sign before it."""
    packed = pack_id(identifier)
    return packed if isinstance(packed, bytes) else b"=" + packed.encode()


def long(kept: bytes) -> str:
    """The id that `short` made short; of damaged bytes something that is no id."""
    return kept[1:].decode("utf-8", "backslashreplace") if kept[:1] == b"=" else unpack_id(kept)


def blob(raw: bytes) -> bytes:
    """`raw` as a blob."""
    packed = pack(raw)
    return bytes((packed.codec,)) + packed.body


def unblob(kept: bytes) -> bytes:
    """What the blob holds. Raises EngineError where it is damaged."""
    if not kept:
        raise EngineError("a stored block is damaged (it is empty): put back a copy")
    return unpack(kept[0], kept[1:])


def version(one: StoredVersion) -> bytes:
    """Id and record of a version."""
    identifier = short(one.id)
    return bytes((len(identifier),)) + identifier + blob(one.record)


def read_version(number: int, kept: bytes) -> StoredVersion:
    """The version, without contents. Raises EngineError where it is damaged."""
    end = 1 + (kept[0] if kept else 0)
    return StoredVersion(number, long(kept[1:end]), unblob(kept[end:]), ())


def brought(contents: Sequence[StoredContent]) -> bytes:
    """The contents of one version."""
    return struct.pack("<I", len(contents)) + blob(frame(contents))


def read_brought(kept: bytes) -> dict[str, bytes]:
    """Content by id. Raises EngineError where it is damaged."""
    if len(kept) < 5:
        raise EngineError("a stored block is damaged (it is too short): put back a copy")
    (count,) = struct.unpack_from("<I", kept)
    return dict(zip(*unframe(unblob(kept[4:]), count), strict=True))


def subject_of(row: CaseRow) -> str:
    """The subject, or nothing where the key says it."""
    return "" if _said(row.key) == row.subject else row.subject


def read_head(case: str, fields: Sequence[bytes | None]) -> CaseRow | None:
    """The row, from the fields `ROW_FIELDS` of a case's head; None where it has none."""
    if fields[0] is None:
        return None
    number, identifier, verdict, severity, score, analyses, conflicts, updated_at, subject = (
        one or b"" for one in fields
    )
    return CaseRow(
        case,
        case.partition("/")[0],
        subject.decode() or _said(case),
        int(number),
        long(identifier),
        verdict.decode(),
        severity.decode(),
        int(score),
        int(analyses),
        int(conflicts),
        int(updated_at),
    )


def place(row: CaseRow) -> bytes:
    """Score and time of update, the greatest first in the order of bytes."""
    return struct.pack(">QQ", _LAST - row.score, _LAST - row.updated_at)


def member(row: CaseRow, order: CaseOrder) -> bytes:
    """The row's place in this order: equal ones are ordered by key."""
    before = BEFORE[order][1]
    return (place(row)[PLACE - before :] if before else b"") + row.key.encode()


def row_rest(row: CaseRow) -> str:
    """The fields that neither key, place nor number say."""
    return json.dumps([subject_of(row), row.id, row.verdict, row.severity, row.analyses, row.conflicts])


def read_row(case: str, kept: bytes) -> CaseRow:
    """A row of the index."""
    score, updated_at = struct.unpack_from(">QQ", kept)
    number, _, rest = kept[PLACE:].partition(b" ")
    subject, identifier, verdict, severity, analyses, conflicts = json.loads(rest)
    return CaseRow(
        case,
        case.partition("/")[0],
        subject or _said(case),
        int(number),
        identifier,
        verdict,
        severity,
        _LAST - score,
        analyses,
        conflicts,
        _LAST - updated_at,
    )


def _said(case: str) -> str:
    return unquote(case.partition("/")[2])
