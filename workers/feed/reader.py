"""Reader: the port of the feed. One line of bytes in, one item out; no reader touches a file, a clock or a topic."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from schemas.canonical import Json


class Item(NamedTuple):
    """What a line says, before it has an id.

    `subject` None: the item is its own subject (`note:<digest>`). `at`: microseconds since the epoch, or None where
    there is no usable time. `content`: `{"data": record}` or `{"text": text}`.
    """

    kind: str
    subject: str | None
    at: int | None
    content: dict[str, Json]
    origin: str


class Reader(Protocol):
    """Reads the lines of one input, in order; what earlier lines taught it and later ones need is its `context`."""

    @property
    def name(self) -> str:
        """Its name in `READERS`."""
        ...

    @property
    def needs_request(self) -> bool:
        """Whether `read` uses the request id, which costs a digest per line."""
        ...

    @property
    def whole_lines(self) -> bool:
        """Whether a part of a line can be read as if it were whole: a last line without a line feed is a fault then."""
        ...

    @property
    def context(self) -> str:
        """What the lines so far taught it and later ones need (the header in force), as text; empty: nothing.

        A reader made with it reads on as this one would. It is kept with the place in the file and beside each line
        that is quarantined, so the reader bounds its size (64 KiB at most); what would make it larger is a fault.
        """
        ...

    def read(self, line: bytes, request: str) -> Item | None:
        """The item of a line that is not blank, without its line end; None where the line carries no record (a header).

        `request` names this line among all texts. Raises InputError for what cannot be read; its message names a field
        or a place, never a value.
        """
        ...


class Redaction(Protocol):
    """A versioned transform that runs before anything else is made of a record: its kind, subject and id too."""

    @property
    def version(self) -> str | None:
        """Written into each observation it ran over; None: it changes nothing."""
        ...

    def apply(self, record: dict[str, Json]) -> dict[str, Json]:
        """The record (or `{"text": text}`) with what must not be kept taken out. Applying it twice changes no more."""
        ...

    def apply_bytes(self, data: bytes) -> bytes:
        """The same for bytes that could not be read and go to quarantine."""
        ...


class NoRedaction:
    """Keeps everything."""

    version: None = None

    def apply(self, record: dict[str, Json]) -> dict[str, Json]:
        """The record itself."""
        return record

    def apply_bytes(self, data: bytes) -> bytes:
        """The bytes themselves."""
        return data
