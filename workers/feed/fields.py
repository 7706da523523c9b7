"""Fields of foreign records: where a value lies, what a template makes of them, who a record is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from schemas.keys import valid_subject
from workers.feed.options import NAME_LIMIT

Get = Callable[[dict[str, Any], str], Json]
"""From a record and a field's name to its value."""
_KEPT = 65_536
_PLACE = re.compile(r"\{([^{}]+)\}")
UNSET = ("", "-")
"""How a field that was never set is written where it is not left out."""


class Names:
    """Subjects and origins that were seen before: most repeat from line to line, and are checked once."""

    def __init__(self) -> None:
        self.hosts: dict[str, str] = {}
        """By host: its subject."""
        self._sensors: set[str] = set()

    def host(self, field: str, host: Json) -> str | None:
        """`host:<host>`; None where it is unset. Raises RecordInvalid, naming the field, for what is no host."""
        if host is None or host in UNSET:
            return None
        subject = f"host:{host}"
        if type(host) is not str or not valid_subject(subject):
            raise RecordInvalid(f"{field}: not a host's address")
        if len(self.hosts) >= _KEPT:
            self.hosts.clear()
        self.hosts[host] = subject
        return subject

    def sensor(self, field: str, name: Json) -> str:
        """The name. Raises RecordInvalid, naming the field, where an origin cannot be called that."""
        if type(name) is not str or name not in self._sensors:
            if type(name) is not str or len(name) > NAME_LIMIT or not valid_subject(f"sensor:{name}"):
                raise RecordInvalid(f"{field}: not a sensor's name")
            if len(self._sensors) < _KEPT:
                self._sensors.add(name)
        return name


def within(record: dict[str, Any], path: str) -> Json:
    """The value of a field, whether its dots are part of its name or lead into objects; None where there is none."""
    if path in record:
        return record[path]
    value: Any = record
    for part in path.split("."):
        value = value.get(part) if type(value) is dict else None
    return value


def found(record: dict[str, Any], field: str) -> Json:
    """The same, and the dots may also be written as underscores, as some shippers of Zeek's logs do."""
    if field in record:
        return record[field]
    flat = field.replace(".", "_")
    return record[flat] if flat in record else within(record, field)


def filled(template: str, record: dict[str, Any], get: Get = found) -> str | None:
    """What a template makes of a record; None where a field of it is missing or unset. Of a list the first element
    counts."""
    missing = False

    def put(place: re.Match[str]) -> str:
        nonlocal missing
        value = get(record, place[1])
        value = value[0] if type(value) is list and value else value
        missing = missing or type(value) not in (str, int) or value in UNSET
        return str(value)

    said = _PLACE.sub(put, template)
    return None if missing else said


def subject_by(template: str, record: dict[str, Any], get: Get = found) -> str | None:
    """The subject that a template makes of a record, or None as `filled`: the usual rule decides then. Raises
    RecordInvalid, naming the template."""
    subject = filled(template, record, get)
    if subject is not None and not valid_subject(subject):
        raise RecordInvalid(f"the subject by `{template}` cannot be used: 1 to 512 printable characters")
    return subject
