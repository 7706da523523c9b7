"""A line as one JSON object, bounded in depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from schemas.canonical import Json
from schemas.errors import RecordInvalid

DEEPEST = 128
"""A record nests at most this deep, so that it can be read back inside the records that will carry it."""


def read_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line, its integers of any length kept exactly. Raises RecordInvalid (no JSON, bad UTF-8,
    NaN, too deeply nested), naming the place and never the value."""
    # as schemas.record.read_json, without the price of one more call for each line
    try:
        record = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise RecordInvalid(f"not JSON: {error}") from None
    if type(record) is not dict:
        raise RecordInvalid("not a JSON object")
    # most lines are flat, and two searches that find nothing cost a tenth of counting
    if (line.find(b"[") >= 0 or line.find(b"{", 1) > 0) and _deep(line, record):
        raise RecordInvalid(f"nested deeper than {DEEPEST} levels")
    return record


def _deep(line: bytes, record: Json) -> bool:
    return line.count(b"{") + line.count(b"[") > DEEPEST and _depth(record) > DEEPEST


def _depth(value: Json) -> int:
    inner: Callable[[], Any] | None = None
    if isinstance(value, dict):
        inner = value.values
    elif isinstance(value, list):
        inner = value.__iter__
    return 0 if inner is None else 1 + max(map(_depth, inner()), default=0)
