"""Where the bytes come from: a file, gzipped or not, or a stream, in pieces of whole lines and in bounded memory."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol, Self

from schemas.digests import QUARANTINED
from schemas.quarantined import PREFIX_LIMIT

BLOCK = 512 * 1024
LINE_LIMIT = 1024 * 1024
"""A line longer than this is never held whole: it is quarantined as a prefix with its length and digest."""
PIECE_LINES = 2_000
KNOWN = 256
"""So many of the last bytes are kept, to notice that a file holds something else now."""
GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31


End = Literal["line", "tail", "damage"]


class Hash(Protocol):
    """What `hashlib` makes."""

    def update(self, data: bytes, /) -> None:
        """Takes more bytes in."""
        ...

    def hexdigest(self) -> str:
        """The digest of all bytes so far."""
        ...

    def copy(self) -> Self:
        """One that goes its own way from here."""
        ...


class Raw(Protocol):
    """A binary stream: what `open(path, "rb")` and `sys.stdin.buffer` return."""

    def read1(self, size: int, /) -> bytes:
        """At most `size` bytes, as soon as there are any; none at the end."""
        ...


class Oversized(NamedTuple):
    """A line that was too long to be held: its first 64 KiB, its whole length and the digest of the whole, as
    `schemas.quarantined` computes it."""

    prefix: bytes
    size: int
    digest: str


class Piece(NamedTuple):
    """Consecutive lines without their line feeds, which take `size` bytes of the decompressed content.

    `end`: `line` where every line is complete; `tail`: one last line without a line feed; `damage`: what lies before
    the place from which on the input could not be read (maybe nothing). `oversized` stands for a single line, `lines`
    is empty then. `before` is the running SHA-256 of all content before it.
    """

    lines: list[bytes]
    size: int
    before: Hash
    end: End = "line"
    oversized: Oversized | None = None


class Source:
    """The decompressed content of one input, read once from front to back.

    Gzip is told by its first bytes, and may have several members. `damage` says, after the end was reached, why the
    input could not be read to its real end, or is None. `content` is the running SHA-256 of what `take`, `pieces` and
    `whole` have given out, and `last` the last 256 bytes of that, or all; where these are given, the source is the rest
    of a plain input, after so much content.
    `raw_done` counts the bytes of the input itself. `portion` says how many of the lines from a place in a list on make
    the next piece, 1 to 2,000.
    """

    def __init__(self, raw: Raw, content: Hash | None = None, last: bytes = b"") -> None:
        self.damage: str | None = None
        self.raw_done = 0
        self.portion: Callable[[Sequence[bytes], int], int] = lambda lines, start: PIECE_LINES
        self.content: Hash = hashlib.sha256() if content is None else content
        self.last = last
        self._raw = raw
        self._blocks = self._decoded() if content is None else self._compressed()
        self._ahead: list[bytes] = []

    def head(self, size: int) -> bytes:
        """The first bytes from here on, at most `size`; they stay to be read. Of a stream that is still being written
        only so much that a line that is not blank is complete."""
        data = b"".join(self._ahead)
        while len(data) < size and b"\n" not in data.lstrip() and (block := next(self._blocks, b"")):
            data += block
        self._ahead = [data] if data else []
        return data[:size]

    def read(self) -> bytes:
        """The next bytes, as many as come in one go; none at the end."""
        return self._ahead.pop(0) if self._ahead else next(self._blocks, b"")

    def take(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes in parts; fewer where the end comes first."""
        while size > 0 and (block := self.read()):
            if len(block) > size:
                self._ahead.insert(0, block[size:])
                block = block[:size]
            size -= len(block)
            self._given_out(block)
            yield block

    def pieces(self) -> Iterator[Piece]:
        """All that is left, in pieces of at most 2,000 lines and about 1 MiB."""
        parts: list[bytes] = []
        waiting = 0
        while block := self.read():
            parts.append(block)
            waiting += len(block)
            if b"\n" in block:
                lines = b"".join(parts).split(b"\n")
                parts = [lines.pop()]
                waiting = len(parts[0])
                yield from self._complete(lines)
            if waiting > LINE_LIMIT:
                piece = self._oversized(b"".join(parts), b"\n")
                parts, waiting = [], 0
                yield piece
                if piece.end != "line":
                    return
        rest = b"".join(parts)
        if self.damage is not None:
            yield self._piece([rest], "damage")
        elif rest:
            yield self._piece([rest], "tail")

    def _complete(self, lines: list[bytes]) -> Iterator[Piece]:
        # a block is shorter than the limit, so that only the line begun before it can be longer
        if len(lines[0]) > LINE_LIMIT:
            yield self._oversized(lines.pop(0) + b"\n", b"\n")
        start = 0
        while start < len(lines):
            end = start + self.portion(lines, start)
            yield self._piece(lines[start:end], "line")
            start = end

    def whole(self) -> Iterator[Piece]:
        """All that is left as one piece with one line, line feeds included; nothing where there is nothing."""
        content = bytearray()
        while len(content) <= LINE_LIMIT and (block := self.read()):
            content += block
        if len(content) > LINE_LIMIT:
            yield self._oversized(bytes(content), b"")
        elif self.damage is not None:
            yield self._piece([bytes(content)], "damage")
        elif content:
            yield self._piece([bytes(content)], "tail")

    def _piece(self, lines: list[bytes], end: End) -> Piece:
        before = self.content.copy()
        taken = b"\n".join(lines) + (b"\n" if end == "line" else b"")
        self._given_out(taken)
        return Piece(lines, len(taken), before, end)

    def _oversized(self, start: bytes, stop: bytes) -> Piece:
        before = self.content.copy()
        whole = hashlib.sha256(QUARANTINED.encode() + b"\n")
        prefix, size, block = start[:PREFIX_LIMIT], 0, start
        while block:
            line, feed, after = block.partition(stop) if stop else (block, b"", b"")
            whole.update(line)
            self._given_out(line + feed)
            size += len(line)
            if feed:
                if after:
                    self._ahead.insert(0, after)
                return Piece(
                    [], size + 1, before, "line", Oversized(prefix, size, f"{QUARANTINED}_{whole.hexdigest()}")
                )
            block = self.read()
        end: End = "tail" if self.damage is None else "damage"
        return Piece([], size, before, end, Oversized(prefix, size, f"{QUARANTINED}_{whole.hexdigest()}"))

    def _given_out(self, data: bytes) -> None:
        self.content.update(data)
        self.last = (self.last + data[-KNOWN:])[-KNOWN:]

    def _compressed(self) -> Iterator[bytes]:
        try:
            while block := self._raw.read1(BLOCK):
                self.raw_done += len(block)
                yield block
        except OSError as error:
            self.damage = f"the input could not be read any further: {error.strerror or type(error).__name__}"

    def _decoded(self) -> Iterator[bytes]:
        blocks = self._compressed()
        first = next(blocks, b"")
        while 0 < len(first) < len(GZIP) and (more := next(blocks, b"")):
            first += more
        if not first.startswith(GZIP):
            if first:
                yield first
            yield from blocks
            return
        yield from self._inflated(first, blocks)

    def _inflated(self, data: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
        stream = zlib.decompressobj(_GZIP_WINDOW)
        try:
            while data or (data := next(blocks, b"")):
                if stream.eof:
                    data = data.lstrip(b"\0")
                    if not data:
                        continue
                    stream = zlib.decompressobj(_GZIP_WINDOW)
                out = stream.decompress(data, BLOCK)
                data = stream.unconsumed_tail or stream.unused_data
                if out:
                    yield out
        except zlib.error:
            self.damage = "the gzip data is damaged from here on"
            return
        if not stream.eof and (out := stream.flush()):
            yield out
        if not stream.eof and self.damage is None:
            self.damage = "the gzip data ends before its end: the file is cut"


def of_bytes(content: bytes) -> Source:
    """A source over bytes in memory."""
    return Source(io.BytesIO(content))
