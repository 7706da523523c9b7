"""Which reader fits an input: by the kind asked for and the first lines' content; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from workers.feed.errors import UnknownKind
from workers.feed.options import AUTO, TEXT, FeedOptions
from workers.feed.reader import Reader, Redaction
from workers.feed.streams import stream_of_name
from workers.feed.text import Text
from workers.feed.zeek_json import ZeekJson

HEAD = 64 * 1024
"""So many bytes of an input's content are looked at."""
BOM = b"\xef\xbb\xbf"
READERS: Mapping[str, Callable[[FeedOptions, str | None, Redaction], Reader]] = {
    ZeekJson.name: ZeekJson,
    Text.name: Text,
}
_SAMPLE = 32
_STREAM_MARK = re.compile(rb'"(?:_path|@stream)"\s*:')
_ZEEK_MARK = re.compile(rb'"(?:_path|@stream|id[._]orig_h)"\s*:|"id"\s*:\s*\{[^{}]*"orig_h"\s*:')
_TEXT_NAMES = (".txt", ".text")
_NAMELESS = "the records name no stream, nor does the file's name: say which with --kind, for example --kind zeek.conn"
_UNKNOWN = "no known kind of input: neither Zeek JSON nor a .txt file (say --kind text to feed its lines as text)"


class Choice(NamedTuple):
    """The reader's name, and the stream of records that do not name theirs."""

    reader: str
    stream: str | None


def sniff(head: bytes, name: str, options: FeedOptions) -> Choice | None:
    """The choice for an input that starts with `head` (its first 64 KiB, decompressed, or all); None where that is
    blank. `name` is the file's name, `-` for a stream, in which prose counts as text.

    Looked at are bytes, not parsed lines: a log whose first line is damaged is still a log. Raises UnknownKind.
    """
    lines = [line.strip() for line in head.removeprefix(BOM).splitlines() if line.strip()][:_SAMPLE]
    if not lines:
        return None
    objects = [line for line in lines if line.startswith(b"{")]
    marked = options.kind != TEXT and any(_ZEEK_MARK.search(line) for line in objects)
    # a log that a crash has filled up with zeros is still a log
    if b"\0" in head and not marked:
        raise UnknownKind("the content is binary")
    if options.kind == TEXT:
        return Choice(TEXT, None)
    base = PurePath(name).name
    # where the records say their stream the file's name must not matter: the ledger's key holds the choice
    named = any(_STREAM_MARK.search(line) for line in objects)
    stream = options.stream or (None if named else stream_of_name(base))
    if options.kind != AUTO or marked or (objects and stream is not None):
        if not objects and lines[0].startswith(b"#"):
            raise UnknownKind("a Zeek log in TSV form, which this version does not read: write it as JSON")
        if not objects:
            raise UnknownKind("none of the first lines is a JSON object")
        if stream is None and not named:
            raise UnknownKind(_NAMELESS)
        return Choice(ZeekJson.name, stream)
    if _prose(head, lines, base):
        return Choice(TEXT, None)
    raise UnknownKind(_UNKNOWN)


def _prose(head: bytes, lines: list[bytes], base: str) -> bool:
    named = base == "-" or PurePath(base.lower().removesuffix(".gz")).suffix in _TEXT_NAMES
    structured = lines[0][:1] in (b"{", b"[", b"<") or lines[0].startswith((b"#separator", b"#fields"))
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head[:4096])
    return named and not structured and controls == 0
