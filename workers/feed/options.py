"""What a caller of the feed may choose, and what it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from pydantic import Field

from schemas.errors import RecordInvalid, UsageError
from schemas.keys import DEFAULT_TENANT, valid_subject, valid_tenant
from schemas.record import Record
from schemas.scales import FLOOR, LIMIT
from workers.feed.mapping import FieldMapping
from workers.feed.zeek_columns import typed

AUTO = "auto"
TEXT = "text"
ZEEK = "zeek"
EVE = "eve"
WINDOWS = "windows"
JSON = "json"
KINDS = "auto, text, zeek, zeek.<stream>, eve, windows, json or json.<mapping>"
"""What `kind` can be, in words."""
NAME_LIMIT = 480
"""An origin or a request id has at most this many characters: a line number may follow it, and 512 fit an origin."""
STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
"""A Zeek stream's name, and a mapping's."""


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """The caller's choices; each of them can change what an observation says, so each but `context` is part of the
    ledger's key.

    `kind`: `auto` (by content), `text`, `zeek`, or `zeek.<stream>` for Zeek records that do not name their stream;
    `eve`, `windows`, `json`, or `json.<mapping>` for JSON lines that one of the `mappings` describes.
    `subject`: of everything fed. `origin`: of records that name no sensor. `subjects`: by kind, a subject with
    `{field}` in it, for example `{"zeek.dhcp": "host:{client_addr}"}`. Of text only: `at` (event time, microseconds),
    `request_id` (the caller's name for this request), `whole` (the whole input is one observation). `context`: what a
    reader starts with, where the first line to be read is not the input's first. `zeek_fields`: by Zeek stream, the
    columns of TSV logs without a header, each as `name` or `name:type`.

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
    context: str = ""
    mappings: Mapping[str, FieldMapping] = field(default_factory=dict)
    zeek_fields: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not valid_tenant(self.tenant):
            raise UsageError("the tenant's name is not one: lower-case letters, digits and hyphens, at most 63")
        self._check_kind()
        if self.subject is not None and not valid_subject(self.subject):
            raise UsageError("the subject cannot be used: 1 to 512 printable characters, no space at either end")
        for name in ("origin", "request_id"):
            value = getattr(self, name)
            if value is not None and not (0 < len(value) <= NAME_LIMIT and value.isprintable()):
                raise UsageError(f"the {name} cannot be used: 1 to {NAME_LIMIT} printable characters")
        if self.at is not None and not FLOOR <= self.at < LIMIT:
            raise UsageError("the time cannot be used: it lies outside the years 1 to 9999")
        for stream, columns in self.zeek_fields.items():
            try:
                typed(columns.split())
            except RecordInvalid as error:
                raise UsageError(f"zeek_fields.{stream}: {error}") from None

    def _check_kind(self) -> None:
        for name in self.mappings:
            if not STREAM.match(name):
                raise UsageError(f"mappings.{name}: no name for a mapping: letters, digits, `_`, `-` and `.`")
        if self.kind in (AUTO, TEXT, ZEEK, EVE, WINDOWS, JSON):
            return
        if self.mapping is not None and self.mapping not in self.mappings:
            there = ", ".join(sorted(self.mappings)) or "none"
            raise UsageError(f"`{self.kind}`: there is no mapping `{self.mapping}` in the settings (there: {there})")
        if self.mapping is None and not (self.stream and STREAM.match(self.stream)):
            raise UsageError(f"`{self.kind}` is no kind: use {KINDS}, for example zeek.conn")

    @property
    def stream(self) -> str | None:
        """The Zeek stream that the kind names, or None."""
        return self.kind[len(ZEEK) + 1 :] if self.kind.startswith(f"{ZEEK}.") else None

    @property
    def mapping(self) -> str | None:
        """The mapping that the kind names, or None."""
        return self.kind[len(JSON) + 1 :] if self.kind.startswith(f"{JSON}.") else None

    def chosen(self) -> dict[str, Any]:
        """The choices that differ from the defaults, as JSON: what a requeue needs to read the same bytes again."""
        default = type(self)()
        pairs = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {
            name: _plain(value) if isinstance(value, Mapping) else value
            for name, value in pairs
            if value != getattr(default, name)
        }

    @classmethod
    def recorded(cls, chosen: Mapping[str, Any]) -> Self:
        """The options that `chosen` wrote down. Raises RecordInvalid or UsageError for others."""
        loaded = _Chosen.load(dict(chosen))
        return cls(**{name: getattr(loaded, name) for name in loaded.model_fields_set})


class _Chosen(Record):
    tenant: str = DEFAULT_TENANT
    kind: str = AUTO
    subject: str | None = None
    origin: str | None = None
    request_id: str | None = None
    at: int | None = None
    whole: bool = False
    subjects: dict[str, str] = Field(default_factory=dict)
    context: str = ""
    mappings: dict[str, FieldMapping] = Field(default_factory=dict)
    zeek_fields: dict[str, str] = Field(default_factory=dict)


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one.chosen() if isinstance(one, FieldMapping) else one for name, one in table.items()}


@dataclass(frozen=True, slots=True)
class FeedCounts:
    """What became of the records of an input; blank lines are none. read = appended + already_fed + quarantined.
    `untimed`: of the appended ones, those that have no time that can be used; texts, which need none, do not count."""

    read: int = 0
    appended: int = 0
    already_fed: int = 0
    quarantined: int = 0
    untimed: int = 0

    def __add__(self, other: FeedCounts) -> FeedCounts:
        return FeedCounts(
            self.read + other.read,
            self.appended + other.appended,
            self.already_fed + other.already_fed,
            self.quarantined + other.quarantined,
            self.untimed + other.untimed,
        )

    @property
    def closes(self) -> bool:
        """Whether nothing vanished (I7)."""
        return self.read == self.appended + self.already_fed + self.quarantined
