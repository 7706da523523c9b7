"""The values of Zeek's TSV logs, column by column, as Zeek's JSON writer would have written them.

Bytes that are escaped (`\\xNN`, `\\\\`) are the bytes again; what is then no text that JSON can hold, or holds control
characters, is written as Zeek's JSON writer (4.0 and later) does: every byte of the string beyond ASCII becomes the
four characters `\\xNN`. Bytes beyond UTF-8 that stand in the log unescaped are treated alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from schemas.canonical import Json

Convert = Callable[[str], Json]
"""From a column's characters to its value; raises ValueError or KeyError for what does not fit. Bytes that are not
UTF-8 are surrogates (`surrogateescape`)."""

_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|\\)")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\Z", re.ASCII)
_DIGITS = re.compile(r"[0-9]+\Z", re.ASCII)
_SIGNED = re.compile(r"-?[0-9]+\Z", re.ASCII)
_PLAIN = re.compile(r"[!-\[\]-~]+\Z")
_SHOWN = re.compile("[\\x08\\t\\n\\x0c\\r\\x20-\\x7e\\xa0-\\ud7ff\\uf900-\\uffef\\U00010000-\\U0010ffff]*\\Z")
"""What Zeek's JSON writer leaves as it is: neither control characters nor private use nor specials; nor, here, what
stands for a byte that is no UTF-8."""
_BOOLS = {"T": True, "F": False}.__getitem__
_NO_NUMBERS = ("nan", "-nan", "inf", "-inf")
"""Which Zeek writes to JSON as null."""
_LARGEST_PORT = 65_535
_COUNTS = 2**64
_INTS = 2**63
_SHORT = 40
_FEW = 65_536


class Marks(NamedTuple):
    """How a log writes what is no value."""

    unset: str = "-"
    empty: str = "(empty)"
    within: str = ","
    """What stands between the elements of a set."""


def unescaped(text: str) -> bytes:
    """The bytes that an escaped text stands for."""
    return _ESCAPE.sub(_byte, text.encode("utf-8", "surrogateescape"))


def as_json(data: bytes) -> str:
    """Bytes as Zeek's JSON writer has them."""
    text = data.decode("utf-8", "surrogateescape")
    if _SHOWN.match(text):
        return text
    return "".join(chr(byte) if 32 <= byte < 127 or byte in b"\b\f\n\r\t" else f"\\x{byte:02x}" for byte in data)


def converter(kind: str, marks: Marks) -> Convert | None:
    """The conversion of a type as `#types` names it; None for a type that Zeek does not write."""
    outer, bracket, inner = kind.partition("[")
    if bracket and outer in ("set", "table", "vector") and inner.endswith("]"):
        one = _SCALARS.get(inner[:-1])
        return None if one is None else _many(_text(marks) if one is _string else one, marks)
    scalar = _SCALARS.get(kind)
    return _text(marks) if scalar is _string else scalar


def is_text(kind: str) -> bool:
    """Whether a column of this type needs no conversion where its line has neither escapes nor bytes beyond ASCII, and
    it is not empty."""
    return _SCALARS.get(kind) is _string


def sure_digits(kind: str) -> int:
    """Fewer decimal digits than this are a value of this type, whatever they are; 0 where that cannot be said."""
    return _SURE.get(_SCALARS.get(kind, _string), 0)


def _byte(escape: re.Match[bytes]) -> bytes:
    return bytes.fromhex(escape[1].decode()) if escape[1] else b"\\"


def _string(value: str) -> Json:
    return as_json(unescaped(value))


def _text(marks: Marks) -> Convert:
    empty = marks.empty

    def text(value: str) -> Json:
        return "" if value == empty else _string(value)

    return text


def _many(one: Convert, marks: Marks) -> Convert:
    unset, empty, within = marks

    def many(value: str) -> Json:
        if value == empty:
            return []
        return [None if part == unset else one(part) for part in value.split(within)]

    return many


@lru_cache(maxsize=_FEW)
def _address(value: str) -> Json:
    if not _PLAIN.match(value):
        raise ValueError
    return value


def _count(value: str) -> Json:
    if not _DIGITS.match(value) or (number := int(value)) >= _COUNTS:
        raise ValueError
    return number


def _port(value: str) -> Json:
    if not _DIGITS.match(value) or (number := int(value)) > _LARGEST_PORT:
        raise ValueError
    return number


def _int(value: str) -> Json:
    if not _SIGNED.match(value) or not -_INTS <= (number := int(value)) < _INTS:
        raise ValueError
    return number


def _double(value: str) -> Json:
    # most are plain decimals, which costs less to see than to match
    if len(value) < _SHORT and value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    if value in _NO_NUMBERS:
        return None
    if not _NUMBER.match(value) or math.isinf(number := float(value)):
        raise ValueError
    return number


_SCALARS: dict[str, Convert] = {
    "bool": _BOOLS,
    "count": _count,
    "counter": _count,
    "int": _int,
    "port": _port,
    "double": _double,
    "time": _double,
    "interval": _double,
    "addr": _address,
    "subnet": _address,
    **dict.fromkeys(("string", "enum", "func", "file", "pattern"), _string),
}
_SURE: dict[Convert, int] = {_count: 20, _port: 5, _int: 19}
