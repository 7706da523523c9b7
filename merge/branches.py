"""Branch versions as they come off the tape: each is proved before it may touch a case."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from engines.log import LogRecord
from merge.contents import NewContent, envelope, is_analysis, is_input
from schemas.analysis import Analysis
from schemas.digests import HEX_LENGTH, VERSION
from schemas.errors import RecordInvalid, TenantMismatch, UnknownType
from schemas.keys import valid_subject, valid_tenant
from schemas.persons import detector_of, person_of
from schemas.scales import AHEAD
from schemas.version import Content, Header, StateVersion

SecretOf = Callable[[str], bytes | None]
"""tenant -> the secret that keys its digests, or None."""
_VERSION_ID = re.compile(rf"{VERSION}_[0-9a-f]{{{HEX_LENGTH}}}", re.ASCII)
_AUTHORS = ("detectors", "person")


def no_secrets(tenant: str) -> None:
    """No tenant has a secret."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A proved branch version: its header, and its contents by id."""

    id: str
    header: Header
    contents: tuple[NewContent, ...]


def read_branch(record: LogRecord, secret_of: SecretOf = no_secrets) -> Branch:
    """The branch version in a record of `versions`.

    Raises an InputError that says what is wrong: it does not parse, is of no known type, is no branch, its key or its
    contents belong to another case, something in it is not what its id says, it speaks in another's name, or a time in
    it lies more than a day (`AHEAD`) after the log's own time of the append: it would count as the newest for as long.
    """
    version = StateVersion.parse(record.value)
    if not valid_tenant(version.tenant) or not valid_subject(version.subject):
        raise RecordInvalid("not a valid StateVersion record (header: tenant or subject has no valid form)")
    if version.case != record.key:
        raise TenantMismatch
    header = version.header
    _check_header(version)
    secret = secret_of(version.tenant)
    version.proven(secret)
    _check_ids(version)
    branch = Branch(version.id, header, tuple(_opened(one, header, secret) for one in version.contents))
    _check_names(branch)
    _check_times(branch, record.appended_at + AHEAD)
    return branch


def branch_of(version: StateVersion, secret: bytes | None = None) -> Branch:
    """The same of a version that was made here and needs no proof but that of its contents."""
    return Branch(version.id, version.header, tuple(_opened(one, version.header, secret) for one in version.contents))


def _check_header(version: StateVersion) -> None:
    header = version.header
    if header.number is not None or version.assessment is not None or version.branches:
        raise RecordInvalid("a merged version stands among the branch versions")
    if len(header.parents) != 1:
        how_many = f"{len(header.parents)} parents" if header.parents else "no parent"
        raise RecordInvalid(f"a branch version names {how_many}; it has one, the version its author looked at")
    if _VERSION_ID.fullmatch(header.parents[0]) is None:
        raise RecordInvalid("header.parents: what a branch version names as its parent is no id of a version")
    if header.author.kind not in _AUTHORS:
        raise RecordInvalid("header.author.kind: a branch version is made by detectors or by a person")
    for name, ids in (("inputs", header.inputs), ("analyses", header.analyses)):
        if any(a >= b for a, b in pairwise(ids)):
            raise RecordInvalid(f"header.{name} is not sorted, or names one twice")


def _check_names(branch: Branch) -> None:
    """What a person says stands in that person's own branch, and nothing else does: no detector speaks for a person."""
    author = branch.header.author
    for one in branch.contents:
        if not isinstance(one.record, Analysis):
            continue
        if author.kind == "person" and one.record.detector != detector_of(author.name):
            raise RecordInvalid("an analysis's `detector` is not the person who made the branch version")
        if author.kind != "person" and person_of(one.record.detector) is not None:
            raise RecordInvalid("an analysis's `detector` is a person, and no person made the branch version")


def _check_times(branch: Branch, latest: int) -> None:
    if branch.header.at > latest:
        raise RecordInvalid("header.at lies more than a day after the record was appended")
    for one in branch.contents:
        if isinstance(one.record, Analysis) and one.record.at is not None and one.record.at > latest:
            raise RecordInvalid("an analysis's `at` lies more than a day after the record was appended")


def _check_ids(version: StateVersion) -> None:
    ids = {content.id for content in version.contents}
    if len(ids) != len(version.contents):
        raise RecordInvalid("contents: one comes twice")
    for one in ids:
        if not is_analysis(one) and not is_input(one):
            raise UnknownType(f"a content's type `{one.partition('_')[0][:32]}` is not known")
    if {one for one in ids if is_input(one)} != set(version.header.inputs):
        raise RecordInvalid("header.inputs names other contents than the version carries")
    if {one for one in ids if is_analysis(one)} != set(version.header.analyses):
        raise RecordInvalid("header.analyses names other contents than the version carries")


def _opened(content: Content, header: Header, secret: bytes | None) -> NewContent:
    record = content.opened(secret)
    if content.key_id is not None or content.sealed is not None:
        raise RecordInvalid("a content is plain and sealed at once")
    if record.tenant != header.tenant or record.subject != header.subject:
        raise TenantMismatch
    return NewContent(content.id, record, envelope(content))
