"""Zeek's logs in TSV form: a header, then a line a record, each column of the type that the header says."""

from __future__ import annotations

import re
from typing import Any

from schemas.errors import RecordInvalid
from workers.feed.options import FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.zeek import ZeekRecords
from workers.feed.zeek_layout import Header, Layout

_SPACES = re.compile(" {2,}")


class ZeekTsv:
    """Each record as Zeek's JSON writer would have written it; what becomes of it: `ZeekRecords`.

    A header counts from its line on, wherever it stands; its `#path` names the stream, else what is given from outside.
    What is unset is left out. Lines without a header cannot be read, unless the option `zeek_fields` gives the columns
    of their stream: no layout is ever guessed. The context is the header in force.
    """

    name = "zeek-tsv"
    needs_request = False
    whole_lines = True
    """A line that was cut inside its last column cannot be told from a whole one, but by its missing line feed."""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._given = options.zeek_fields
        self._outside = stream
        self._item = ZeekRecords(options, redaction).item
        self._header = Header(context)
        self._layout: Layout | None = None
        self._stream = stream

    @property
    def context(self) -> str:
        """The header in force."""
        return self._header.context

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of a line; None of a header line. Raises RecordInvalid, naming the column that does not fit."""
        if line.startswith(b"#"):
            self._take(line.removesuffix(b"\r"))
            return None
        layout = self._layout
        if layout is None:
            self._stream = self._header.path or self._outside
            layout = self._layout = self._header.layout(self._given, self._outside)
        if line.endswith(b"\r"):
            line = line[:-1]
        quick = line.isascii() and b"\\" not in line
        values = line.decode("utf-8", "surrogateescape").split(layout.separator)
        if layout.tail:
            values[-1:] = _SPACES.split(values[-1])
        if len(values) != len(layout.names):
            raise RecordInvalid(_columns(layout, values))
        record = _quick(layout, values) if quick else _careful(layout, values)
        return self._item(record, self._stream)

    def _take(self, line: bytes) -> None:
        self._layout = None
        try:
            self._header.take(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise RecordInvalid("the header line is not UTF-8") from None


def _quick(layout: Layout, values: list[str]) -> dict[str, Any]:
    unset, empty, _ = layout.marks
    record: dict[str, Any] = {}
    name = ""
    try:
        for (name, convert, digits), value in zip(layout.quick, values, strict=True):
            if convert is None:
                if value != unset:
                    record[name] = value if value != empty else ""
            elif len(value) < digits and value.isdigit():
                record[name] = int(value)
            elif value != unset:
                record[name] = convert(value)
    except (ValueError, KeyError):
        raise RecordInvalid(_unfit(layout, name)) from None
    return record


def _careful(layout: Layout, values: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    name = ""
    try:
        for name, convert, value in zip(layout.names, layout.careful, values, strict=True):
            if value != layout.marks.unset:
                record[name] = convert(value)
    except (ValueError, KeyError):
        raise RecordInvalid(_unfit(layout, name)) from None
    return record


def _unfit(layout: Layout, name: str) -> str:
    return f"{name}: not a value of the type {layout.types[layout.names.index(name)]}"


def _columns(layout: Layout, values: list[str]) -> str:
    there, due = len(values), len(layout.names)
    if there > due:
        return f"the line has {there} columns, and the header {due}: what comes after `{layout.names[-1]}` has no name"
    return f"the line has {there} columns, and the header {due}: `{layout.names[there]}` is missing"
