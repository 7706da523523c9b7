"""JSON lines of any kind, read with a mapping of the settings, or with none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from workers.feed.fields import Names, filled, subject_by, within
from workers.feed.mapping import KIND, FieldMapping
from workers.feed.objects import read_object
from workers.feed.options import JSON, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.times import event_time, time_in_format, time_in_unit

Time = Callable[[str, Json], int | None]


class JsonLines:
    """Kind: the mapping's, else `json.<mapping>`, without one `json`. The record is kept as it came.

    Subject: the option's; else by the table of subjects; else the mapping's; else `sensor:<origin>`. Origin: the
    mapping's field, else the option, else the mapping's name, else `json`. Time: the first of the mapping's paths (of
    `mapping.TIMES` without one) that is there; where none is, the record has no time that can be used.
    """

    name = JSON
    needs_request = False
    whole_lines = False
    context = ""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._mapping = FieldMapping() if stream is None else options.mappings[stream]
        self._kind = self._mapping.kind or (JSON if stream is None else f"{JSON}.{stream}")
        self._of_field = "{" in self._kind
        self._fixed = options.subject
        self._origin = options.origin or stream or JSON
        self._redact = None if redaction.version is None else redaction.apply
        self._templates = options.subjects
        self._time = _reading(self._mapping)
        self._names = Names()

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of one JSON object. Raises RecordInvalid, naming the field."""
        record = read_object(line)
        if self._redact is not None:
            record = self._redact(record)
        kind = self._named(record) if self._of_field else self._kind
        origin = self._sensor(record)
        subject = self._fixed or self._subject(kind, record) or f"sensor:{origin}"
        return Item(kind, subject, self._at(record), {"data": record}, origin)

    def _named(self, record: dict[str, Any]) -> str:
        kind = filled(self._kind, record, within)
        kind = None if kind is None else "-".join(kind.split())
        if kind is None or not KIND.match(kind):
            raise RecordInvalid(f"the kind by `{self._kind}`: the field is missing, or no name that a kind can have")
        return kind

    def _sensor(self, record: dict[str, Any]) -> str:
        field = self._mapping.origin
        name = None if field is None else within(record, field)
        return self._origin if field is None or name in (None, "") else self._names.sensor(field, name)

    def _subject(self, kind: str, record: dict[str, Any]) -> str | None:
        for template in (self._templates.get(kind), self._mapping.subject):
            subject = None if template is None else subject_by(template, record, within)
            if subject is not None:
                return subject
        return None

    def _at(self, record: dict[str, Any]) -> int | None:
        for path in self._mapping.time:
            value = within(record, path)
            if value is not None and value != "":
                return self._time(path, value)
        return None


def _reading(mapping: FieldMapping) -> Time:
    unit, form = mapping.time_unit, mapping.time_format

    def reading(field: str, value: Json) -> int | None:
        if form is not None and type(value) is str:
            return time_in_format(field, value, form)
        return event_time(field, value) if unit is None else time_in_unit(field, value, unit)

    return reading
