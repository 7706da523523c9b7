"""Windows events as JSON, as the tools that people have write them."""

from __future__ import annotations

import re

from schemas.canonical import Json
from schemas.errors import RecordInvalid
from workers.feed.errors import UnknownSchema
from workers.feed.fields import Names, subject_by
from workers.feed.objects import read_object
from workers.feed.options import WINDOWS, FeedOptions
from workers.feed.reader import Item, Redaction
from workers.feed.windows_shapes import shape_of
from workers.feed.wrappers import several_in, unwrapped, without_prefix

_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_./()-]{0,109}\Z", re.ASCII)
_SPACES = re.compile(r"\s+")
_KEPT = 4_096
_UNKNOWN = "unknown schema: no Windows event with System, winlog, or Channel and EventID, such as evtx_dump writes"


class Windows:
    """Kind `windows.<channel>`, the channel in lower case with `-` for spaces: `windows.security`,
    `windows.microsoft-windows-sysmon/operational`. The record is kept as it came, whatever its shape.

    Subject: the option's; else by the table; else `host:<computer>`; else `sensor:<origin>`. Origin: the option, else
    `windows`. Time: the event's own (SystemTime and what stands for it), see `windows_shapes`.
    """

    name = WINDOWS
    needs_request = False
    whole_lines = False
    context = ""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._fixed = options.subject
        self._origin = options.origin or WINDOWS
        self._redact = None if redaction.version is None else redaction.apply
        self._templates = options.subjects
        self._names = Names()
        self._kinds: dict[str, str] = {}

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of a line. Raises RecordInvalid, and UnknownSchema for what is no Windows event."""
        record = read_object(line if line.startswith(b"{") else without_prefix(line))
        if self._redact is not None:
            record = self._redact(record)
        event = shape_of(record)
        if event is None:
            found = unwrapped(record, lambda one: shape_of(one) is not None)
            if found is None:
                raise UnknownSchema(_unknown(several_in(record)))
            record = found.record if self._redact is None else self._redact(found.record)
            event = shape_of(record)
            if event is None:
                raise UnknownSchema(_UNKNOWN)
        kind = self._kind(event.channel)
        subject = self._fixed
        if subject is None and kind in self._templates:
            subject = subject_by(self._templates[kind], record)
        if subject is None:
            subject = self._names.host(event.computer_field, event.computer) or f"sensor:{self._origin}"
        return Item(kind, subject, event.at, {"data": record}, self._origin)

    def _kind(self, channel: Json) -> str:
        if type(channel) is not str:
            raise RecordInvalid("Channel: the event names none")
        known = self._kinds.get(channel)
        if known is not None:
            return known
        named = _SPACES.sub("-", channel.strip().lower())
        if not _CHANNEL.match(named):
            raise RecordInvalid("Channel: not a channel's name")
        if len(self._kinds) >= _KEPT:
            self._kinds.clear()
        return self._kinds.setdefault(channel, f"{WINDOWS}.{named}")


def _unknown(several: str | None) -> str:
    return _UNKNOWN if several is None else f"`{several}` holds a list: write its events one a line, then feed them"
