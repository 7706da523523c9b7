"""Event times as people write them, to microseconds since the epoch."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal, InvalidOperation

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from schemas.scales import FLOOR, LIMIT, SECOND, seconds_to_micros

_NUMBER = re.compile(r"[+-]?[0-9]{1,32}(?:\.[0-9]{0,32})?(?:[eE][+-]?[0-9]{1,2})?\Z", re.ASCII)
UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""How many of each make a second."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROS = float(SECOND)
_FIRST = float(FLOOR // SECOND)
_LAST = float(LIMIT // SECOND)
_UNSET = ("", "-")
"""How Zeek writes a value that was never set."""


def event_time(field: str, value: Json) -> int | None:
    """Microseconds since the epoch, or None where the value is unset (None, empty, `-`).

    Read are: seconds as a number or in a string (a small one, as of a capture's own clock, is a time in 1970);
    milliseconds, microseconds and nanoseconds, recognised because as anything coarser they would lie beyond the year
    9999; ISO 8601 with a zone, or without one: then it is UTC. Raises RecordInvalid, naming `field`, for anything else.
    """
    if type(value) is float and _FIRST <= value < _LAST:
        return round(value * _MICROS)
    if type(value) is float or type(value) is int:
        return _of_number(field, value)
    if value is None:
        return None
    if type(value) is str:
        text = value.strip()
        if text in _UNSET:
            return None
        return _of_number(field, Decimal(text)) if _NUMBER.match(text) else _of_iso(field, text)
    raise RecordInvalid(f"{field}: a time must be a number or a string")


def time_in_unit(field: str, value: Json, unit: str) -> int | None:
    """The same where a number, or a string that is one, counts units of `UNITS`, whatever its size."""
    number: float | Decimal | None = None
    if type(value) is float or type(value) is int:
        number = value
    elif type(value) is str and _NUMBER.match(value.strip()):
        number = Decimal(value.strip())
    return event_time(field, value) if number is None else _bounded(field, _micros(field, number, UNITS[unit]))


def time_in_format(field: str, value: Json, form: str) -> int | None:
    """The same where a string has a form as of `datetime.strptime`; without a zone it is UTC."""
    if type(value) is not str or value.strip() in _UNSET:
        return event_time(field, value)
    try:
        moment = dt.datetime.strptime(value.strip(), form)
    except ValueError:
        raise RecordInvalid(f"{field}: not a time of the form {form}") from None
    return _of_moment(field, moment)


def _of_number(field: str, seconds: float | Decimal) -> int:
    for unit in UNITS.values():
        micros = _micros(field, seconds, unit)
        if micros < LIMIT:
            break
    return _bounded(field, micros)


def _micros(field: str, number: float | Decimal, unit: int) -> int:
    try:
        if unit > 1:
            number = Decimal(number) / unit if type(number) is int else number / unit
        return seconds_to_micros(number)
    except (OverflowError, ValueError, InvalidOperation):
        raise RecordInvalid(f"{field}: the number is not finite") from None


def _of_iso(field: str, text: str) -> int:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise RecordInvalid(f"{field}: neither a number of seconds nor an ISO 8601 time") from None
    return _of_moment(field, moment)


def _of_moment(field: str, moment: dt.datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return _bounded(field, (moment - _EPOCH) // dt.timedelta(microseconds=1))


def _bounded(field: str, micros: int) -> int:
    if not FLOOR <= micros < LIMIT:
        raise RecordInvalid(f"{field}: the time lies outside the years 1 to 9999")
    return micros
