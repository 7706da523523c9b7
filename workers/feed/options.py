"""What a caller of the feed may choose, and what it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from pydantic import Field

from schemas.errors import UsageError
from schemas.keys import DEFAULT_TENANT, valid_subject, valid_tenant
from schemas.record import Record
from schemas.scales import FLOOR, LIMIT

AUTO = "auto"
TEXT = "text"
ZEEK = "zeek"
NAME_LIMIT = 480
"""An origin or a request id has at most this many characters: a line number may follow it, and 512 fit an origin."""
STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
"""A Zeek stream's name."""


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """The caller's choices; each of them can change what an observation says, so each is part of the ledger's key.

    `kind`: `auto` (by content), `text`, `zeek`, or `zeek.<stream>` for Zeek records that do not name their stream.
    `subject`: of everything fed. `origin`: of records that name no sensor. `subjects`: by kind, a subject with
    `{field}` in it, for example `{"zeek.dhcp": "host:{client_addr}"}`. Of text only: `at` (event time, microseconds),
    `request_id` (the caller's name for this request), `whole` (the whole input is one observation).

    Raises UsageError for a value that cannot be used.
    """

    tenant: str = DEFAULT_TENANT
    kind: str = AUTO
    subject: str | None = None
    origin: str | None = None
    request_id: str | None = None
    at: int | None = None
    whole: bool = False
    subjects: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not valid_tenant(self.tenant):
            raise UsageError("the tenant's name is not one: lower-case letters, digits and hyphens, at most 63")
        if self.kind not in (AUTO, TEXT, ZEEK) and not (self.stream and STREAM.match(self.stream)):
            raise UsageError(f"`{self.kind}` is no kind: use auto, text, zeek or zeek.<stream>, for example zeek.conn")
        if self.subject is not None and not valid_subject(self.subject):
            raise UsageError("the subject cannot be used: 1 to 512 printable characters, no space at either end")
        for name in ("origin", "request_id"):
            value = getattr(self, name)
            if value is not None and not (0 < len(value) <= NAME_LIMIT and value.isprintable()):
                raise UsageError(f"the {name} cannot be used: 1 to {NAME_LIMIT} printable characters")
        if self.at is not None and not FLOOR <= self.at < LIMIT:
            raise UsageError("the time cannot be used: it lies outside the years 1 to 9999")

    @property
    def stream(self) -> str | None:
        """The Zeek stream that the kind names, or None."""
        return self.kind[len(ZEEK) + 1 :] if self.kind.startswith(f"{ZEEK}.") else None

    def chosen(self) -> dict[str, Any]:
        """The choices that differ from the defaults, as JSON: what a requeue needs to read the same bytes again."""
        default = type(self)()
        pairs = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in pairs
            if value != getattr(default, name)
        }

    @classmethod
    def recorded(cls, chosen: Mapping[str, Any]) -> Self:
        """The options that `chosen` wrote down. Raises RecordInvalid or UsageError for others."""
        return cls(**_Chosen.load(dict(chosen)).model_dump(exclude_unset=True))


class _Chosen(Record):
    tenant: str = DEFAULT_TENANT
    kind: str = AUTO
    subject: str | None = None
    origin: str | None = None
    request_id: str | None = None
    at: int | None = None
    whole: bool = False
    subjects: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FeedCounts:
    """What became of the records of an input; blank lines are none. read = appended + already_fed + quarantined."""

    read: int = 0
    appended: int = 0
    already_fed: int = 0
    quarantined: int = 0

    def __add__(self, other: FeedCounts) -> FeedCounts:
        return FeedCounts(
            self.read + other.read,
            self.appended + other.appended,
            self.already_fed + other.already_fed,
            self.quarantined + other.quarantined,
        )

    @property
    def closes(self) -> bool:
        """Whether nothing vanished (I7)."""
        return self.read == self.appended + self.already_fed + self.quarantined
