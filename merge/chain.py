"""Proving one case's line, version after version. Pure: it is handed what the store keeps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from engines.store import CaseRow, Head, Snapshot, StoredVersion
from merge.contents import carried
from merge.plan import row_of
from merge.state import Kept
from merge.summary import SummaryBody, advance, empty, moved, snapshot_of
from schemas.errors import InputError, RecordInvalid, TenantMismatch
from schemas.keys import parse_case
from schemas.version import Content, StateVersion


class Fault(NamedTuple):
    """Something that does not verify: of which case (or of a key that names none), at which version, and what."""

    case: str
    number: int | None
    what: str


def fingerprint(data: bytes) -> bytes:
    """Tells whether two places keep the same bytes."""
    return hashlib.blake2b(data, digest_size=16).digest()


class Chain:
    """The line of one case as far as it has been followed. `faults` grows; what it holds stays in `ids` (by content id:
    the fingerprint of its envelope) and `branches` (by id of a branch: the version that took it in last)."""

    def __init__(self, case: str, secret: bytes | None = None) -> None:
        self.case = case
        self.faults: list[Fault] = []
        self.ids: dict[str, bytes] = {}
        self.branches: dict[str, int] = {}
        self.contents = 0
        self._key = parse_case(case)
        self._secret = secret
        self._summary = empty(*self._key, secret)
        self._last: StateVersion | None = None

    @property
    def number(self) -> int:
        """The number of the last version followed."""
        return self._summary.number

    @property
    def current_ids(self) -> set[str]:
        """The ids of the analyses that are current at the last version followed."""
        return {one.id for one in self._summary.current.values()}

    def follow(self, stored: StoredVersion, envelopes: Mapping[str, bytes], numbers: Mapping[str, int]) -> None:
        """The next version, with its contents and the numbers that the store says they came with."""
        number = self.number + 1
        try:
            version = StateVersion.parse(stored.record).proven(self._secret)
        except InputError as error:
            self._fault(number, f"the version: {error}")
            self._summary = moved(self._summary, number, stored.id, self._summary.at)
            self._last = None
            return
        self._check_header(number, stored, version)
        records = []
        for one in carried(version):
            record = self._proved(number, one, envelopes.get(one), numbers.get(one))
            if record is not None:
                records.append(record)
            self.ids.setdefault(one, fingerprint(envelopes.get(one, b"")))
        self.branches.update(dict.fromkeys(version.branches, number))
        self._summary = moved(advance(self._summary, records), number, version.id, version.header.at)
        self._last = version

    def check_snapshot(self, snapshot: Snapshot) -> None:
        """Whether a snapshot at the last version followed says what the fold says."""
        try:
            kept = SummaryBody.parse(snapshot.body)
        except InputError as error:
            self._fault(snapshot.number, f"the snapshot: {error}")
            return
        if kept != SummaryBody.parse(snapshot_of(self._summary).body):
            self._fault(snapshot.number, "the snapshot does not agree with the versions up to it")

    def check_end(self, head: Head | None, row: CaseRow | None) -> None:
        """Whether the head and the row of the index are those of the last version followed."""
        if head != self._summary.head:
            self._fault(self.number, "the head is not the last version")
        if self._last is not None and row != row_of(self._last, len(self._summary.current)):
            self._fault(self.number, "the case's row in the index does not agree with its last version")

    def _check_header(self, number: int, stored: StoredVersion, version: StateVersion) -> None:
        header = version.header
        if version.case != self.case:
            self._fault(number, "the version is of another case")
        if not stored.number == header.number == number or stored.id != version.id:
            self._fault(number, "the version does not stand under its own number and id")
        if header.parents[:1] != (self._summary.id,):
            self._fault(number, "the version does not stand on the one before it")
        if set(header.parents[1:]) != set(version.branches):
            self._fault(number, "the version does not carry the headers of just the branches it took in")
        if version.assessment is None or version.contents:
            self._fault(number, "the version lacks its assessment, or carries contents that belong beside it")
        if header.at < self._summary.at:
            self._fault(number, "the version is older than the one before it")
        brought = {one for branch in version.branches.values() for one in (*branch.inputs, *branch.analyses)}
        again = self.ids.keys() & set(carried(version))
        if not brought.issuperset(carried(version)) or again:
            self._fault(number, "the version adds what no branch of it brought, or what the case had already")

    def _proved(self, number: int, identifier: str, envelope: bytes | None, said: int | None) -> Kept | None:
        if envelope is None:
            self._fault(number, f"content {identifier} is missing")
            return None
        if said != number:
            self._fault(number, f"the store says that content {identifier} came with version {said}")
        try:
            content = Content.parse(envelope)
            record = content.opened(self._secret)
            if content.id != identifier or content.key_id is not None or content.sealed is not None:
                raise RecordInvalid("its envelope does not fit it")
            if (record.tenant, record.subject) != self._key:
                raise TenantMismatch
        except InputError as error:
            self._fault(number, f"content {identifier}: {error}")
            return None
        self.contents += 1
        return record

    def _fault(self, number: int | None, what: str) -> None:
        self.faults.append(Fault(self.case, number, what))
