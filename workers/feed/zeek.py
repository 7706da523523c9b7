"""What a Zeek record becomes, whichever way it was written: its stream, whom it is about, its sensor, its time."""

from __future__ import annotations

from typing import Any

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from workers.feed.fields import Names, found, subject_by
from workers.feed.options import STREAM, ZEEK, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.times import event_time

DEFAULT_ORIGIN = "zeek"
STREAM_FIELDS = ("_path", "@stream")
SENSOR_FIELDS = ("_system_name", "@system", "_node_name", "_node", "_sensor_name")
_KEPT = 65_536
_new = tuple.__new__
"""A named tuple made at half the cost of its own constructor: it is made for every line."""


class ZeekRecords:
    """Kind `zeek.<stream>`; the record's own stream name counts before the one given from outside.

    Subject: the option's; else by the table; else of `files` the receiver (`rx_hosts[0]`; in newer Zeek, whose records
    have the connection's addresses instead, the responder where `is_orig`, else the originator); of every record with
    an originator `host:<originator>`; else `sensor:<sensor's name>`. Origin: the sensor's name, else the option, else
    `zeek`. The address is kept as it is written.
    """

    def __init__(self, options: FeedOptions, redaction: Redaction) -> None:
        self._fixed = options.subject
        self._origin = options.origin or DEFAULT_ORIGIN
        self._redact = None if redaction.version is None else redaction.apply
        self._templates = options.subjects
        self._kinds: dict[str, str] = {}
        self._names = Names()
        self._hosts = self._names.hosts

    def item(self, record: dict[str, Any], stream: str | None) -> Item:
        """The item of a record as Zeek writes it to JSON; `stream` is that of records which do not name theirs. Raises
        RecordInvalid."""
        if self._redact is not None:
            record = self._redact(record)
        named = record.get("_path")
        if named is None:
            named = record.get("@stream", stream)
        kind = (self._kinds.get(named) if type(named) is str else None) or self._kind(record, named)
        origin = self._sensor(record)
        subject = self._fixed or self._subject(kind, record) or f"sensor:{origin}"
        at = event_time("ts", record.get("ts"))
        return _new(Item, (kind, subject, at, {"data": record}, origin))

    def _kind(self, record: dict[str, Any], stream: Json) -> str:
        if stream is None:
            raise RecordInvalid(f"the record names no stream ({' or '.join(STREAM_FIELDS)}), nor does the file's name")
        if type(stream) is not str or not STREAM.match(stream):
            raise RecordInvalid(f"{'_path' if '_path' in record else '@stream'}: not a stream's name")
        if len(self._kinds) >= _KEPT:
            self._kinds.clear()
        return self._kinds.setdefault(stream, f"{ZEEK}.{stream}")

    def _sensor(self, record: dict[str, Any]) -> str:
        for field in SENSOR_FIELDS:
            name = record.get(field)
            if name:
                return self._names.sensor(field, name)
        return self._origin

    def _subject(self, kind: str, record: dict[str, Any]) -> str | None:
        if self._templates and kind in self._templates:
            subject = subject_by(self._templates[kind], record)
            if subject is not None:
                return subject
        if kind == "zeek.files":
            return self._names.host(*_receiver(record))
        field, host = "id_orig_h", record.get("id_orig_h")
        if host is None:
            field, host = "id.orig_h", found(record, "id.orig_h")
        return (self._hosts.get(host) if type(host) is str else None) or self._names.host(field, host)


def _receiver(record: dict[str, Any]) -> tuple[str, Json]:
    hosts = record.get("rx_hosts")
    if hosts and type(hosts) is list:
        return "rx_hosts", hosts[0]
    field = "id.resp_h" if record.get("is_orig") is True else "id.orig_h"
    return field, found(record, field)
