"""Suricata's EVE records, as Suricata writes them or inside what a shipper made of them."""

from __future__ import annotations

from typing import Any

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from workers.feed.errors import UnknownSchema
from workers.feed.fields import Names, subject_by, within
from workers.feed.objects import read_object
from workers.feed.options import EVE, STREAM, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.times import event_time
from workers.feed.wrappers import Unwrapped, sensor_in, several_in, unwrapped, without_prefix

DEFAULT_ORIGIN = "suricata"
_DOMAIN = 53
_WELL_KNOWN = 1024
_OF_PACKETS = ("eve.alert", "eve.drop", "eve.anomaly")
"""Records that have the addresses of a packet, whichever way it went; the others have those of their flow."""
_ANSWERS = ("answer", "response")
_new = tuple.__new__
_UNKNOWN = "unknown schema: neither an EVE record (event_type, timestamp) nor a known wrapper around one"


class Eve:
    """Kind `eve.<event_type>`; the record is the EVE record itself, without what a shipper wrapped around it.

    Subject: the option's; else by the table; else of `fileinfo` the receiver (`dest_ip`); else `host:<originator>`,
    which is `flow.src_ip` where the record has it; else `src_ip`, but `dest_ip` of what a server sent: of a packet with
    the direction `to_client`, of a DNS answer with the addresses of its packet, and of the packet of an alert that says
    no direction (before Suricata 7) where it came from a port below 1024 and went to one above. A record without
    addresses is about `sensor:<sensor's name>`. Origin: the record's `host`, else the wrapper's name for the sensor
    (`firewall_name`, …), else the option, else `suricata`.
    """

    name = EVE
    needs_request = False
    whole_lines = False
    context = ""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._fixed = options.subject
        self._origin = options.origin or DEFAULT_ORIGIN
        self._redact = None if redaction.version is None else redaction.apply
        self._templates = options.subjects
        self._names = Names()
        self._hosts = self._names.hosts

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of a line. Raises RecordInvalid, and UnknownSchema for what is no EVE record."""
        record = read_object(line if line.startswith(b"{") else without_prefix(line))
        if self._redact is not None:
            record = self._redact(record)
        around: tuple[dict[str, Any], ...] = ()
        if not _is_event(record):
            record, around = self._unwrapped(record)
        kind = _kind(record["event_type"])
        origin = self._sensor(record, around)
        subject = self._fixed or self._subject(kind, record) or f"sensor:{origin}"
        at = event_time("timestamp", record.get("timestamp"))
        return _new(Item, (kind, subject, at, {"data": record}, origin))

    def _unwrapped(self, record: dict[str, Any]) -> Unwrapped:
        found = unwrapped(record, _is_event)
        if found is None:
            several = several_in(record)
            if several is not None:
                raise UnknownSchema(f"`{several}` holds a list: write its records one a line, then feed them")
            raise UnknownSchema(_UNKNOWN)
        return found if self._redact is None else found._replace(record=self._redact(found.record))

    def _sensor(self, record: dict[str, Any], around: tuple[dict[str, Any], ...]) -> str:
        own = record.get("host")
        if type(own) is dict:
            own = own.get("name")
        if own:
            return self._names.sensor("host", own)
        named = sensor_in(around) if around else None
        return self._origin if named is None else self._names.sensor(*named)

    def _subject(self, kind: str, record: dict[str, Any]) -> str | None:
        if self._templates and kind in self._templates:
            subject = subject_by(self._templates[kind], record)
            if subject is not None:
                return subject
        field, host = _originator(kind, record)
        return (self._hosts.get(host) if type(host) is str else None) or self._names.host(field, host)


def _is_event(record: dict[str, Any]) -> bool:
    return type(record.get("event_type")) is str and "timestamp" in record


def _kind(event_type: str) -> str:
    if not STREAM.match(event_type):
        raise RecordInvalid("event_type: not a name")
    return f"{EVE}.{event_type}"


def _originator(kind: str, record: dict[str, Any]) -> tuple[str, Json]:
    if kind == "eve.fileinfo":
        return "dest_ip", record.get("dest_ip")
    flow = record.get("flow")
    if type(flow) is dict and "src_ip" in flow:
        return "flow.src_ip", flow["src_ip"]
    field = "dest_ip" if _is_from_server(kind, record) else "src_ip"
    return field, record.get(field)


def _is_from_server(kind: str, record: dict[str, Any]) -> bool:
    direction = record.get("direction")
    if direction in ("to_client", "to_server"):
        return bool(direction == "to_client")
    source, target = record.get("src_port"), record.get("dest_port")
    if kind == "eve.dns" and within(record, "dns.type") in _ANSWERS:
        # the packet's addresses are those of Suricata 4; later ones write the flow's, and say their version
        if _DOMAIN in (source, target) and source != target:
            return bool(source == _DOMAIN)
        return within(record, "dns.version") is None
    return kind in _OF_PACKETS and type(source) is int and type(target) is int and source < _WELL_KNOWN <= target
