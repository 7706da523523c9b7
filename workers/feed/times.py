"""Event times as people write them, to microseconds since the epoch."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from schemas.scales import FLOOR, LIMIT, SECOND, seconds_to_micros

_NUMBER = re.compile(r"[+-]?[0-9]{1,32}(?:\.[0-9]{0,32})?(?:[eE][+-]?[0-9]{1,2})?\Z", re.ASCII)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROS = float(SECOND)
_FIRST = float(FLOOR // SECOND)
_LAST = float(LIMIT // SECOND)
_UNSET = ("", "-")
"""How Zeek writes a value that was never set."""


def event_time(field: str, value: Json) -> int | None:
    """Microseconds since the epoch, or None where the value is unset (None, empty, `-`).

    Read are: seconds as a number or in a string (a small one, as of a capture's own clock, is a time in 1970);
    milliseconds, recognised because as seconds they would lie beyond the year 9999; ISO 8601 with a zone, or without
    one: then it is UTC. Raises RecordInvalid, naming `field`, for anything else.
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


def _of_number(field: str, seconds: float | Decimal) -> int:
    try:
        micros = seconds_to_micros(seconds)
        if micros >= LIMIT:
            micros = seconds_to_micros(seconds / 1000)
    except (OverflowError, ValueError):
        raise RecordInvalid(f"{field}: the number is not finite") from None
    if not FLOOR <= micros < LIMIT:
        raise RecordInvalid(f"{field}: the time lies outside the years 1 to 9999")
    return micros


def _of_iso(field: str, text: str) -> int:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise RecordInvalid(f"{field}: neither a number of seconds nor an ISO 8601 time") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    micros = (moment - _EPOCH) // dt.timedelta(microseconds=1)
    if not FLOOR <= micros < LIMIT:
        raise RecordInvalid(f"{field}: the time lies outside the years 1 to 9999")
    return micros
