"""The shapes in which people have Windows events as JSON: where each keeps channel, computer and time."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from schemas.canonical import Json
from schemas.scales import HOUR
from workers.feed.fields import within
from workers.feed.times import event_time, time_in_unit


class Event(NamedTuple):
    """What a shape says: the channel, the computer with its field's name, the time in microseconds."""

    channel: Json
    computer_field: str
    computer: Json
    at: int | None


_SYSTEM_TIMES = ("#attributes.SystemTime", "@SystemTime", "SystemTime", "$.SystemTime", "_attributes.SystemTime")
_CHANNELS = ("Channel", "LogName", "log_name", "EventLog")
_NUMBERS = ("EventID", "EventId", "event_id", "Id", "EventCode")
_COMPUTERS = ("Hostname", "Computer", "ComputerName", "computer_name", "MachineName", "host.name", "host")
_TIMES = ("TimeCreated", "SystemTime")
_LATER_TIMES = ("@timestamp", "TimeGenerated")
_ZONED = re.compile(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})\Z", re.ASCII)
_DATE = re.compile(r"/Date\((-?[0-9]{1,17})\)/\Z", re.ASCII)
_FURTHEST_ZONE = 15 * HOUR
_WALL_CLOCK = "EventTime"


def shape_of(record: dict[str, Any]) -> Event | None:
    """The event that a record is in one of the shapes, or None. Raises RecordInvalid for a time that cannot be read."""
    event = record.get("Event")
    for whole in (event, record):
        if type(whole) is dict and type(whole.get("System")) is dict:
            return _of_system(whole["System"])
    if type(record.get("winlog")) is dict:
        return _of_winlogbeat(record)
    field = _first(record, _CHANNELS)
    return _flat(record, record[field]) if field is not None and _first(record, _NUMBERS) is not None else None


def _of_system(system: dict[str, Any]) -> Event:
    """The event's XML as JSON: evtx_dump and SigmaHQ (`#attributes`), xmltodict (`@`), xml2js (`$`), evtx_dump with
    attributes apart (`TimeCreated_attributes`)."""
    created = system.get("TimeCreated")
    if type(created) is dict:
        path = next((one for one in _SYSTEM_TIMES if within(created, one) is not None), _SYSTEM_TIMES[0])
        created = within(created, path)
    elif created is None:
        created = within(system, "TimeCreated_attributes.SystemTime")
    at = event_time("System.TimeCreated", created)
    return Event(system.get("Channel"), "System.Computer", system.get("Computer"), at)


def _of_winlogbeat(record: dict[str, Any]) -> Event:
    winlog = record["winlog"]
    field, computer = "winlog.computer_name", winlog.get("computer_name")
    if computer is None:
        field, computer = "host.name", within(record, "host.name")
    return Event(winlog.get("channel"), field, computer, event_time("@timestamp", record.get("@timestamp")))


def _flat(record: dict[str, Any], channel: Json) -> Event:
    """One level, as of NXLog, PowerShell's ConvertTo-Json, Azure's tables and the OTRF data sets."""
    field = next((one for one in _COMPUTERS if type(within(record, one)) is str), _COMPUTERS[0])
    return Event(channel, field, within(record, field), _flat_time(record))


def _flat_time(record: dict[str, Any]) -> int | None:
    """NXLog's `EventTime` is the computer's wall clock where it names no zone. A shipper's `@timestamp` is the instant
    then, unless it is further away than any zone: the record was loaded later, and the wall clock is read as UTC."""
    field = _first(record, _TIMES)
    if field is not None:
        return _created(field, record[field])
    wall, later = record.get(_WALL_CLOCK), _first(record, _LATER_TIMES)
    instant = None if later is None else event_time(later, record[later])
    if wall is None:
        return instant
    at = event_time(_WALL_CLOCK, wall)
    if at is None or (type(wall) is str and _ZONED.search(wall.strip())):
        return instant if at is None else at
    return instant if instant is not None and abs(instant - at) <= _FURTHEST_ZONE else at


def _created(field: str, value: Json) -> int | None:
    """A time as PowerShell writes it: ISO 8601, `/Date(milliseconds)/`, or an object around one."""
    if type(value) is dict:
        value = value.get("value", value.get("DateTime"))
    date = _DATE.match(value) if type(value) is str else None
    return event_time(field, value) if date is None else time_in_unit(field, int(date[1]), "ms")


def _first(record: dict[str, Any], fields: tuple[str, ...]) -> str | None:
    return next((one for one in fields if record.get(one) is not None), None)
