"""Plain text: what an analyst writes, one observation a line or (whole) one for everything."""

from __future__ import annotations

from schemas.errors import RecordInvalid
from schemas.observation import TEXT
from workers.feed.options import FeedOptions
from workers.feed.reader import Item, Redaction


class Text:
    """Kind `text`. Subject: the option's, else its own (`note:<digest>`). Origin: the request id, which tells identical
    texts apart. Time: the option's, else none."""

    name = "text"
    needs_request = True
    whole_lines = False
    context = ""

    def __init__(self, options: FeedOptions, stream: str | None, redaction: Redaction, context: str) -> None:
        self._subject = options.subject
        self._at = options.at
        self._whole = options.whole
        self._redact = None if redaction.version is None else redaction.apply

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of one text. Raises RecordInvalid where it is not UTF-8."""
        try:
            content = {"text": (line if self._whole else line.removesuffix(b"\r")).decode("utf-8")}
        except UnicodeDecodeError as error:
            raise RecordInvalid(f"not UTF-8: {error.reason} at byte {error.start + 1}") from None
        if self._redact is not None:
            content = self._redact(content)
        return Item(TEXT, self._subject, self._at, content, request)
