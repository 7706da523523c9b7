"""Numbers and times as the tape keeps them: millionths and microseconds since the epoch, both integers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

MILLION = 1_000_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 3600 * SECOND
DAY = 24 * HOUR
EARLIEST = 946_684_800 * SECOND
"""2000-01-01: a clock before this is flagged and moves no window."""
AHEAD = DAY
"""A clock further than this ahead of the receipt is flagged and moves no window."""
LIMIT = 253_402_300_800 * SECOND
"""Year 10000: no time on the tape lies at or beyond it, so that every time can be printed."""
FLOOR = -62_135_596_800 * SECOND
"""Year 1: no time on the tape lies before it."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def rfc3339(at: int) -> str:
    """`2020-04-30T12:00:00.123456Z` for microseconds since the epoch; whole seconds carry no fraction."""
    moment = _EPOCH + dt.timedelta(microseconds=at)
    text = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.removesuffix(".000000") + "Z"


def parse_rfc3339(text: str) -> int:
    """Microseconds since the epoch of an RFC 3339 time (a zone is required). Raises ValueError."""
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the time names no zone")
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def seconds_to_micros(seconds: float | Decimal) -> int:
    """Microseconds of an epoch time in seconds, rounded half to even.

    Raises OverflowError or ValueError for what is not finite.
    """
    return round(seconds * SECOND)


def decimal(millionths: int) -> float:
    """0.25 for 250,000 millionths: for people and `--json`, never for a digest."""
    return millionths / MILLION
