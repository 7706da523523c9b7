"""Made-up lines of versions: the store does not look into what it keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from engines.store import CaseRow, Commit, Head, Snapshot, StoredContent, StoredVersion

CASE = "acme/host:10.0.0.5"
GENESIS = Head(0, "ver_" + "0" * 64)


def made_id(prefix: str, *what: object) -> str:
    """An id of the usual shape."""
    return f"{prefix}_{hashlib.sha256(repr(what).encode()).hexdigest()}"


def content(*what: object) -> StoredContent:
    """A content that nothing else has the id of."""
    identifier = made_id("inp", *what)
    return StoredContent(identifier, b'{"id":"%s"}' % identifier.encode())


def version(number: int, *, writer: str = "one", contents: Sequence[StoredContent] | None = None) -> StoredVersion:
    """Version `number` as this writer would have it."""
    brought = [content(writer, number)] if contents is None else contents
    return StoredVersion(number, made_id("ver", writer, number), f"record {writer} {number}".encode(), tuple(brought))


def row(case: str, number: int, identifier: str) -> CaseRow:
    """The case's row at that version."""
    tenant, _, subject = case.partition("/")
    return CaseRow(case, tenant, subject, number, identifier, "suspicious", "medium", 650_000, 3, 1, 1_700_000_000)


def commit(
    case: str,
    expected: Head,
    versions: Sequence[StoredVersion] | None = None,
    *,
    writer: str = "one",
    snapshot: Snapshot | None = None,
    **other: Any,
) -> Commit:
    """A commit of these versions (or of the next one) on top of `expected`; `other`: fields of its row."""
    moved = [version(expected.number + 1, writer=writer)] if versions is None else versions
    return Commit(case, expected, moved, row(case, moved[-1].number, moved[-1].id)._replace(**other), snapshot)


def head_after(one: Commit) -> Head:
    """The head once it is committed."""
    return Head(one.versions[-1].number, one.versions[-1].id)
