"""How records of one append are cut into the frames that lie in the file. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.log import NewRecord
from engines.packing import PLAIN, ZSTD, Packed, frame, pack, unframe, unpack

__all__ = ["FRAME_BYTES", "PLAIN", "ZSTD", "Packed", "frame", "pack", "split", "unframe", "unpack"]

FRAME_BYTES = 256 * 1024
"""A frame holds about this many bytes before compression, unless one record alone is larger."""


def split(records: Sequence[NewRecord]) -> Iterator[Sequence[NewRecord]]:
    """`records` in order, cut into frames of about `FRAME_BYTES`."""
    start, size = 0, 0
    for place, (key, value) in enumerate(records):
        here = len(key) + len(value) + 8
        if size and size + here > FRAME_BYTES:
            yield records[start:place]
            start, size = place, 0
        size += here
    if start < len(records):
        yield records[start:]
