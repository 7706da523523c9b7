"""Branch versions as they come off the tape: each is proved before it may touch a case."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from engines.log import LogRecord
from merge.contents import NewContent, envelope, is_analysis, is_input
from merge.written import WrittenHeader, written
from schemas.analysis import Analysis
from schemas.digests import HEX_LENGTH, VERSION
from schemas.errors import InputError, RecordInvalid, TenantMismatch, UnknownType
from schemas.keys import CaseKey, valid_subject, valid_tenant
from schemas.persons import detector_of, person_of
from schemas.scales import AHEAD
from schemas.version import Content, Header, StateVersion

SecretOf = Callable[[str], bytes | None]
"""tenant -> the secret that keys its digests, or None."""
_VERSION_ID = re.compile(rf"{VERSION}_[0-9a-f]{{{HEX_LENGTH}}}", re.ASCII)
_AUTHORS = ("detectors", "person")


def no_secrets(tenant: str) -> None:
    """No tenant has a secret."""


AnyHeader = Header | WrittenHeader
"""A branch's header, of whichever kind it was read as."""


class Branch(NamedTuple):
    """A proved branch version: its case, the bytes of its header's JSON, and its contents."""

    id: str
    case: CaseKey
    header_json: bytes
    contents: tuple[NewContent, ...]

    @property
    def header(self) -> Header:
        """Its header, read anew."""
        return Header.parse(self.header_json)


def read_branch(record: LogRecord, secret_of: SecretOf = no_secrets) -> Branch:
    """The branch version in a record of `versions`.

    Raises an InputError that says what is wrong: it does not parse, is of no known type, is no branch, its key or its
    contents belong to another case, something in it is not what its id says, it speaks in another's name, or a time in
    it lies more than a day (`AHEAD`) after the log's own time of the append: it would count as the newest for as long.
    """
    latest = record.appended_at + AHEAD
    return _usual(record, secret_of, latest) or _any(record, secret_of, latest)


def branch_of(version: StateVersion, secret: bytes | None = None) -> Branch:
    """The same of a version that was made here and needs no proof but that of its contents."""
    header = version.header
    contents = tuple(_opened(one, header, secret) for one in version.contents)
    return Branch(version.id, CaseKey(header.tenant, header.subject), header.in_full(), contents)


def _usual(record: LogRecord, secret_of: SecretOf, latest: int) -> Branch | None:
    """The branch version, if it is written as usual and nothing is wrong with it; else `_any` is asked."""
    found = written(record.value)
    if found is None:
        return None
    header = found.header
    try:
        _check_header(header, record.key)
        _check_ids(header, [one for one, _, _ in found.bodies])
        contents = found.proven(secret_of(header.tenant))
        if contents is None:
            return None
        _check_names(header, contents)
        _check_times(header, contents, latest)
    except InputError:
        return None
    return Branch(found.id, CaseKey(header.tenant, header.subject), found.header_json, contents)


def _any(record: LogRecord, secret_of: SecretOf, latest: int) -> Branch:
    """The branch version, however it is written; raises for what is wrong with it."""
    version = StateVersion.parse(record.value)
    header = version.header
    _check_header(header, record.key, merged=version.assessment is not None or bool(version.branches))
    secret = secret_of(version.tenant)
    version.proven(secret)
    _check_ids(header, [one.id for one in version.contents])
    branch = branch_of(version, secret)
    _check_names(header, branch.contents)
    _check_times(header, branch.contents, latest)
    return branch


def _check_header(header: AnyHeader, key: str, merged: bool = False) -> None:
    if not valid_tenant(header.tenant) or not valid_subject(header.subject):
        raise RecordInvalid("not a valid StateVersion record (header: tenant or subject has no valid form)")
    if header.case != key:
        raise TenantMismatch
    if merged or header.number is not None:
        raise RecordInvalid("a merged version stands among the branch versions")
    if len(header.parents) != 1:
        how_many = f"{len(header.parents)} parents" if header.parents else "no parent"
        raise RecordInvalid(f"a branch version names {how_many}; it has one, the version its author looked at")
    if _VERSION_ID.fullmatch(header.parents[0]) is None:
        raise RecordInvalid("header.parents: what a branch version names as its parent is no id of a version")
    if header.author.kind not in _AUTHORS:
        raise RecordInvalid("header.author.kind: a branch version is made by detectors or by a person")
    for name, ids in (("inputs", header.inputs), ("analyses", header.analyses)):
        if len(ids) > 1 and any(a >= b for a, b in pairwise(ids)):
            raise RecordInvalid(f"header.{name} is not sorted, or names one twice")


def _check_names(header: AnyHeader, contents: Sequence[NewContent]) -> None:
    """What a person says stands in that person's own branch, and nothing else does: no detector speaks for a person."""
    author = header.author
    for one in contents:
        if one.analysis is None:
            continue
        if author.kind == "person" and one.analysis.detector != detector_of(author.name):
            raise RecordInvalid("an analysis's `detector` is not the person who made the branch version")
        if author.kind != "person" and person_of(one.analysis.detector) is not None:
            raise RecordInvalid("an analysis's `detector` is a person, and no person made the branch version")


def _check_times(header: AnyHeader, contents: Sequence[NewContent], latest: int) -> None:
    if header.at > latest:
        raise RecordInvalid("header.at lies more than a day after the record was appended")
    for one in contents:
        if one.analysis is not None and one.analysis.at is not None and one.analysis.at > latest:
            raise RecordInvalid("an analysis's `at` lies more than a day after the record was appended")


def _check_ids(header: AnyHeader, ids: Sequence[str]) -> None:
    if len(set(ids)) != len(ids):
        raise RecordInvalid("contents: one comes twice")
    inputs, analyses = set(filter(is_input, ids)), set(filter(is_analysis, ids))
    if len(inputs) + len(analyses) != len(ids):
        strange = next(one for one in ids if one not in inputs and one not in analyses)
        raise UnknownType(f"a content's type `{strange.partition('_')[0][:32]}` is not known")
    if inputs != set(header.inputs):
        raise RecordInvalid("header.inputs names other contents than the version carries")
    if analyses != set(header.analyses):
        raise RecordInvalid("header.analyses names other contents than the version carries")


def _opened(content: Content, header: Header, secret: bytes | None) -> NewContent:
    record = content.opened(secret)
    if content.key_id is not None or content.sealed is not None:
        raise RecordInvalid("a content is plain and sealed at once")
    if record.tenant != header.tenant or record.subject != header.subject:
        raise TenantMismatch
    return NewContent(content.id, record if isinstance(record, Analysis) else None, envelope(content))
