"""Zeek logs as JSON lines, in the variants that people have: one stream or several in a file, fields with dots,
underscores or nested, a sensor's name under several keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from schemas.keys import valid_subject
from schemas.record import read_json
from workers.feed.options import NAME_LIMIT, STREAM, ZEEK, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.times import event_time

DEFAULT_ORIGIN = "zeek"
STREAM_FIELDS = ("_path", "@stream")
SENSOR_FIELDS = ("_system_name", "@system", "_node_name", "_node", "_sensor_name")
DEEPEST = 128
"""A record nests at most this deep, so that it can be read back inside the records that will carry it."""
_KEPT = 65_536
_new = tuple.__new__
"""A named tuple made at half the cost of its own constructor: it is made for every line."""
_PLACE = re.compile(r"\{([^{}]+)\}")


class ZeekJson:
    """Kind `zeek.<stream>`; the record's own stream name counts before the one given from outside.

    Subject: the option's; else by the table; else of `files` the receiver (`rx_hosts[0]`; in newer Zeek, whose records
    have the connection's addresses instead, the responder where `is_orig`, else the originator); of every record with
    an originator `host:<originator>`; else `sensor:<sensor's name>`. Origin: the sensor's name, else the option, else
    `zeek`. The address is kept as it is written.
    """

    name = "zeek"
    needs_request = False

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction) -> None:
        self._fixed = options.subject
        self._origin = options.origin or DEFAULT_ORIGIN
        self._stream = stream
        self._redact = None if redaction.version is None else redaction.apply
        self._templates = options.subjects
        self._kinds: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        self._sensors: set[str] = set()

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of one JSON object. Raises RecordInvalid."""
        record = read_json(line)
        if type(record) is not dict:
            raise RecordInvalid("not a JSON object")
        # most lines are flat, and two searches that find nothing cost a tenth of counting
        if (line.find(b"[") >= 0 or line.find(b"{", 1) > 0) and _deep(line, record):
            raise RecordInvalid(f"nested deeper than {DEEPEST} levels")
        if self._redact is not None:
            record = self._redact(record)
        stream = record.get("_path")
        if stream is None:
            stream = record.get("@stream", self._stream)
        kind = (self._kinds.get(stream) if type(stream) is str else None) or self._kind(record, stream)
        origin = self._sensor(record)
        subject = self._fixed or self._subject(kind, record) or f"sensor:{origin}"
        at = event_time("ts", record.get("ts"))
        return _new(Item, (kind, subject, at, {"data": record}, origin))

    def _kind(self, record: dict[str, Any], stream: Json) -> str:
        if stream is None:
            raise RecordInvalid(f"the record names no stream ({' or '.join(STREAM_FIELDS)}), nor does the file's name")
        if type(stream) is not str or not STREAM.match(stream):
            raise RecordInvalid(f"{'_path' if '_path' in record else '@stream'}: not a stream's name")
        _keep(self._kinds, stream, f"{ZEEK}.{stream}")
        return f"{ZEEK}.{stream}"

    def _sensor(self, record: dict[str, Any]) -> str:
        for field in SENSOR_FIELDS:
            name = record.get(field)
            if name:
                break
        else:
            return self._origin
        if type(name) is not str or name not in self._sensors:
            if type(name) is not str or len(name) > NAME_LIMIT or not valid_subject(f"sensor:{name}"):
                raise RecordInvalid(f"{field}: not a sensor's name")
            if len(self._sensors) < _KEPT:
                self._sensors.add(name)
        return name

    def _subject(self, kind: str, record: dict[str, Any]) -> str | None:
        if self._templates and kind in self._templates:
            subject = filled(self._templates[kind], record)
            if subject is not None:
                return subject
        if kind == "zeek.files":
            return self._host(*_receiver(record))
        field, host = "id_orig_h", record.get("id_orig_h")
        if host is None:
            field, host = "id.orig_h", found(record, "id.orig_h")
        return (self._hosts.get(host) if type(host) is str else None) or self._host(field, host)

    def _host(self, field: str, host: Json) -> str | None:
        if host is None or host in ("", "-"):
            return None
        subject = f"host:{host}"
        if type(host) is not str or not valid_subject(subject):
            raise RecordInvalid(f"{field}: not a host's address")
        _keep(self._hosts, host, subject)
        return subject


def _receiver(record: dict[str, Any]) -> tuple[str, Json]:
    hosts = record.get("rx_hosts")
    if hosts and type(hosts) is list:
        return "rx_hosts", hosts[0]
    field = "id.resp_h" if record.get("is_orig") is True else "id.orig_h"
    return field, found(record, field)


def found(record: dict[str, Any], field: str) -> Json:
    """The value of a field, whether its dots are part of its name, written as underscores, or lead into objects; None
    where there is none."""
    if field in record:
        return record[field]
    flat = field.replace(".", "_")
    if flat in record:
        return record[flat]
    value: Any = record
    for part in field.split("."):
        value = value.get(part) if type(value) is dict else None
    return value


def filled(template: str, record: dict[str, Any]) -> str | None:
    """The subject that a template of the table makes of a record; None where a field of it is missing or unset, so that
    the usual rule decides. Of a list the first element counts. Raises RecordInvalid, naming the template."""
    missing = False

    def put(place: re.Match[str]) -> str:
        nonlocal missing
        value = found(record, place[1])
        value = value[0] if type(value) is list and value else value
        missing = missing or type(value) not in (str, int) or value in ("", "-")
        return str(value)

    subject = _PLACE.sub(put, template)
    if missing:
        return None
    if not valid_subject(subject):
        raise RecordInvalid(f"the subject by `{template}` cannot be used: 1 to 512 printable characters")
    return subject


def _keep(cache: dict[str, str], key: str, value: str) -> None:
    if len(cache) >= _KEPT:
        cache.clear()
    cache[key] = value


def _deep(line: bytes, record: Json) -> bool:
    return line.count(b"{") + line.count(b"[") > DEEPEST and _depth(record) > DEEPEST


def _depth(value: Json) -> int:
    inner: Callable[[], Any] | None = None
    if isinstance(value, dict):
        inner = value.values
    elif isinstance(value, list):
        inner = value.__iter__
    return 0 if inner is None else 1 + max(map(_depth, inner()), default=0)
