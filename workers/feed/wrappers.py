"""What shippers wrap around a record: the line's prefix, the objects and strings around it, and the sensor they name.

A wrapper is known by where it keeps the record; what lies there must be a whole record of the kind expected, or the
line is none of ours. What a wrapper says beside the record is not kept, but for the sensor's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from workers.feed.fields import within
from workers.feed.objects import read_object

Record = dict[str, Any]

OBJECTS = ("event", "_source", "json", "jsonPayload", "suricata.eve", "result", "log", "message", "@message")
"""Where wrappers keep the record as an object: AWS Network Firewall and Splunk HEC, an Elasticsearch hit, Filebeat's
json target, Google Cloud Logging, Filebeat's decode_json_fields, a Splunk export, parsed by Fluent Bit or Vector or
CloudWatch Logs Insights."""
TEXTS = ("message", "log", "event.original", "@message", "textPayload", "MESSAGE", "msg", "_raw", "event")
"""Where they keep it as text: Filebeat and Vector, Docker and Fluent Bit, Elastic Agent, CloudWatch Logs Insights,
Google Cloud Logging, journald, rsyslog, Splunk."""
LISTS = ("logEvents", "records", "Records", "value")
"""Where they keep several: a line is one record, so these must be taken apart first."""
SENSORS = ("firewall_name", "host.name", "host.hostname", "host", "hostname", "_HOSTNAME", "agent.name")
"""Where they name the sensor."""
_DEEPEST = 4
_CRI = re.compile(rb"\S{20,40} (?:stdout|stderr) ([FP])(?::\S+)? (?=\{)")
_SYSLOG = re.compile(rb"(?:<[0-9]{1,3}>)?[^{]{0,200}?(?:\]|[A-Za-z0-9_.-]): ?(?:@cee: ?)?(?=\{)")


class Unwrapped(NamedTuple):
    """The record, and the wrappers around it, outermost first."""

    record: Record
    around: tuple[Record, ...]


def without_prefix(line: bytes) -> bytes:
    """The line without what Kubernetes (CRI) or syslog put before its object. Raises RecordInvalid for a part of a line
    that CRI has cut."""
    if line.startswith(b"{"):
        return line
    line = line.lstrip()
    kubernetes = _CRI.match(line)
    if kubernetes is not None:
        if kubernetes[1] == b"P":
            raise RecordInvalid("a part of a line that the container's runtime has cut")
        return line[kubernetes.end() :]
    syslog = _SYSLOG.match(line)
    return line if syslog is None else line[syslog.end() :]


def unwrapped(record: Record, ours: Callable[[Record], bool], deepest: int = _DEEPEST) -> Unwrapped | None:
    """The record inside that is `ours`, and what is around it; None where there is none. Raises RecordInvalid where
    there is none and text in one of the places is no JSON."""
    if ours(record):
        return Unwrapped(record, ())
    if deepest == 0:
        return None
    for inside in _inside(record):
        inner = unwrapped(inside, ours, deepest - 1)
        if inner is not None:
            return Unwrapped(inner.record, (record, *inner.around))
    return None


def several_in(record: Record) -> str | None:
    """The field in which a wrapper keeps a list of records, or None."""
    return next((name for name in LISTS if type(record.get(name)) is list), None)


def sensor_in(around: tuple[Record, ...]) -> tuple[str, Json] | None:
    """The field and the name of the sensor that wrappers name, the innermost first; None where they name none."""
    for record in reversed(around):
        for field in SENSORS:
            name = within(record, field)
            if type(name) is str and name:
                return field, name
    return None


def _inside(record: Record) -> Iterator[Record]:
    for field in OBJECTS:
        value = within(record, field)
        if type(value) is dict:
            yield value
    fault: RecordInvalid | None = None
    for field in TEXTS:
        value = within(record, field)
        if type(value) is str and "{" in value:
            try:
                yield read_object(without_prefix(value.encode()))
            except RecordInvalid as error:
                fault = fault or RecordInvalid(f"{field}: {error}")
    if fault is not None:
        raise fault
