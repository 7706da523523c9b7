"""Zeek's two writers, written out plainly: the same values as a TSV log and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Value = bool | int | float | bytes | list["Value"] | None
"""A value of a column; text is bytes, as in Zeek. None is unset."""
Row = Sequence[Value]


def tsv(path: str, columns: Mapping[str, str], rows: Sequence[Row], *, utf8: bool = True) -> bytes:
    """The log as Zeek's ASCII writer has it, with or without LogAscii::enable_utf_8."""
    head = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n"
    head += f"#path\t{path}\n#open\t2020-04-30-00-00-00\n"
    head += "#fields\t" + "\t".join(columns) + "\n#types\t" + "\t".join(columns.values()) + "\n"
    lines = [_line(list(columns.values()), row, utf8=utf8) for row in rows]
    return head.encode() + b"".join(lines) + b"#close\t2020-04-30-01-00-00\n"


def json_lines(columns: Mapping[str, str], rows: Sequence[Row]) -> bytes:
    """The same as its JSON writer has them."""
    records = [
        {name: _of_json(value) for name, value in zip(columns, row, strict=True) if value is not None} for row in rows
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _line(kinds: Sequence[str], row: Row, *, utf8: bool) -> bytes:
    line = b"\t".join(_of_tsv(kind, value, b"\t", utf8) for kind, value in zip(kinds, row, strict=True))
    return (b"\\x23" + line[1:] if line.startswith(b"#") else line) + b"\n"


def _of_tsv(kind: str, value: Value, escaped: bytes, utf8: bool) -> bytes:
    if value is None:
        return b"-"
    if isinstance(value, list):
        inner = kind.partition("[")[2].rstrip("]")
        return b",".join(_of_tsv(inner, one, escaped + b",", utf8) for one in value) or b"(empty)"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, float):
        return f"{value:.6f}".encode()
    if isinstance(value, int):
        return str(value).encode()
    if value in (b"-", b"(empty)"):
        return b"\\x%02x" % value[0] + value[1:]
    return _escape(value, escaped, utf8) or b"(empty)"


def _escape(value: bytes, escaped: bytes, utf8: bool) -> bytes:
    out = b""
    for character, raw in _characters(value):
        if raw == b"\\":
            out += b"\\\\"
        elif (raw[0] < 127 and raw[0] >= 32 and raw not in [bytes([one]) for one in escaped]) or (
            utf8 and character is not None and raw[0] > 127
        ):
            out += raw
        else:
            out += b"".join(b"\\x%02x" % byte for byte in raw)
    return out


def _of_json(value: Value) -> Any:
    if isinstance(value, list):
        return [_of_json(one) for one in value]
    if not isinstance(value, bytes):
        return value
    characters = _characters(value)
    if all(character is not None for character, _ in characters):
        return value.decode()
    return "".join(chr(byte) if 32 <= byte < 127 or byte in b"\b\f\n\r\t" else f"\\x{byte:02x}" for byte in value)


def _characters(value: bytes) -> list[tuple[str | None, bytes]]:
    """Character by character, with its bytes; None for a byte that is none Zeek would show."""
    found: list[tuple[str | None, bytes]] = []
    at = 0
    while at < len(value):
        for size in (1, 2, 3, 4):
            raw = value[at : at + size]
            try:
                character = raw.decode()
            except UnicodeDecodeError:
                continue
            if len(character) == 1 and _shown(ord(character)):
                found.append((character, raw))
                break
        else:
            raw = value[at : at + 1]
            found.append((None, raw))
        at += len(raw)
    return found


def _shown(code: int) -> bool:
    if chr(code) in "\b\f\n\r\t":
        return True
    controls = code <= 0x1F or 0x7F <= code <= 0x9F
    return not controls and not 0xE000 <= code <= 0xF8FF and not 0xFFF0 <= code <= 0xFFFF
