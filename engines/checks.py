"""What every adapter asks of its caller before it writes anything."""

from __future__ import annotations

from collections.abc import Sequence

from engines.log import NewRecord
from engines.store import Commit
from engines.topics import RECORD_LIMIT
from schemas.errors import RecordTooLarge, UsageError


def check_records(topic: str, records: Sequence[NewRecord]) -> None:
    """Raises RecordTooLarge, naming place and size, where key and value together exceed `RECORD_LIMIT` bytes."""
    for place, (key, value) in enumerate(records):
        # a character takes at most four bytes: only near the limit is it worth encoding the key
        if len(value) + 4 * len(key) > RECORD_LIMIT:
            size = len(value) + len(key.encode())
            if size > RECORD_LIMIT:
                raise RecordTooLarge(
                    f"record {place} of the append to `{topic}` has {size:,} bytes;"
                    f" at most {RECORD_LIMIT:,} are allowed"
                )


def check_commit(commit: Commit) -> None:
    """Raises UsageError where a commit is not one consecutive move of its case's head: a caller's mistake, which must
    not reach the line."""
    numbers = [version.number for version in commit.versions]
    first = commit.expected.number + 1
    if not numbers or numbers != list(range(first, first + len(numbers))):
        raise UsageError(f"versions {numbers} of `{commit.case}` do not follow number {commit.expected.number}")
    last, row = commit.versions[-1], commit.row
    if (row.key, row.number, row.id) != (commit.case, last.number, last.id):
        raise UsageError(f"the row of `{commit.case}` is not that of its version {last.number}")
    if row.key.partition("/")[0] != row.tenant:
        raise UsageError(f"the row of `{commit.case}` names another tenant")
    if commit.snapshot is not None and commit.snapshot.number not in numbers:
        raise UsageError(f"the snapshot of `{commit.case}` at {commit.snapshot.number} is of none of its new versions")
