"""Branch versions as they come off the tape: each is proved before it may touch a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engines.log import LogRecord
from merge.contents import NewContent, envelope, is_analysis, is_input
from schemas.errors import RecordInvalid, TenantMismatch, UnknownType
from schemas.keys import valid_subject, valid_tenant
from schemas.version import Content, Header, StateVersion

SecretOf = Callable[[str], bytes | None]
"""tenant -> the secret that keys its digests, or None."""


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
    contents belong to another case, or something in it is not what its id says.
    """
    version = StateVersion.parse(record.value)
    if not valid_tenant(version.tenant) or not valid_subject(version.subject):
        raise RecordInvalid("not a valid StateVersion record (header: tenant or subject has no valid form)")
    if version.case != record.key:
        raise TenantMismatch
    header = version.header
    if header.number is not None or version.assessment is not None or version.branches:
        raise RecordInvalid("a merged version stands among the branch versions")
    if not header.parents:
        raise RecordInvalid("a branch version names no parent")
    secret = secret_of(version.tenant)
    version.proven(secret)
    _check_ids(version)
    return Branch(version.id, header, tuple(_opened(one, header, secret) for one in version.contents))


def branch_of(version: StateVersion, secret: bytes | None = None) -> Branch:
    """The same of a version that was made here and needs no proof but that of its contents."""
    return Branch(version.id, version.header, tuple(_opened(one, version.header, secret) for one in version.contents))


def _check_ids(version: StateVersion) -> None:
    ids = {content.id for content in version.contents}
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
