"""Zeek's logs as JSON lines, in the variants that people have: one stream or several in a file, fields with dots,
underscores or nested, a sensor's name under several keys."""

from __future__ import annotations

from typing import Any

from workers.feed.objects import read_object
from workers.feed.options import STREAM, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.zeek import ZeekRecords


class ZeekJson:
    """The records as they came, or what is in them as Zeek's Kafka writer tags it, `{"conn": {...}}`; what becomes of
    them: `ZeekRecords`."""

    name = "zeek"
    needs_request = False
    whole_lines = False
    context = ""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._stream = stream
        self._item = ZeekRecords(options, redaction).item

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of one JSON object. Raises RecordInvalid."""
        record = read_object(line)
        return self._tagged(record) if len(record) == 1 else self._item(record, self._stream)

    def _tagged(self, record: dict[str, Any]) -> Item:
        name, inner = next(iter(record.items()))
        if type(inner) is dict and "ts" in inner and STREAM.match(name):
            return self._item(inner, name)
        return self._item(record, self._stream)
