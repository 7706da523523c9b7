"""Tenants, subjects and the key of a case, `tenant/subject`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from schemas.errors import UsageError

DEFAULT_TENANT = "default"
TENANT_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"
"""For models: their pattern engine takes `$` for the very end."""
TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
SUBJECT_LIMIT = 512
"""A subject has at most this many characters, so that keys stay keys."""


class CaseKey(NamedTuple):
    """Tenant and subject (as given, not encoded)."""

    tenant: str
    subject: str

    def __str__(self) -> str:
        return case_key(self.tenant, self.subject)


def valid_tenant(tenant: str) -> bool:
    """Whether this is a tenant's name: lower-case letters, digits and hyphens, at most 63, no hyphen first."""
    return TENANT.match(tenant) is not None


@lru_cache(maxsize=65_536)
def valid_subject(subject: str) -> bool:
    """Whether this is a subject: 1 to 512 printable characters (spaces allowed inside)."""
    return 0 < len(subject) <= SUBJECT_LIMIT and subject.isprintable() and subject == subject.strip()


@lru_cache(maxsize=65_536)
def case_key(tenant: str, subject: str) -> str:
    """`tenant/subject` with the subject percent-encoded except unreserved characters and `:`."""
    return f"{tenant}/{quote(subject, safe=':')}"


def parse_case(text: str) -> CaseKey:
    """The case that a key or a CASE argument names; without a tenant it is the default one's.

    A `/` inside a subject is always encoded in a key; raises UsageError for what is no key.
    """
    tenant, slash, subject = text.partition("/")
    if not slash:
        tenant, subject = DEFAULT_TENANT, text
    try:
        subject = unquote(subject, errors="strict")
    except UnicodeDecodeError:
        raise UsageError(f"`{text}` does not name a case: what is percent-encoded in it is not UTF-8") from None
    if not valid_tenant(tenant):
        raise UsageError(f"`{tenant}` is not a tenant's name: lower-case letters, digits and hyphens, at most 63")
    if not valid_subject(subject):
        raise UsageError(
            f"`{text}` does not name a case: write it as tenant/subject, for example default/host:10.0.0.5"
        )
    return CaseKey(tenant, subject)
