"""Framing: how several keyed values lie in one blob, and how blobs are compressed. Pure.

A frame of n pairs: n key lengths (in characters), n value lengths (in bytes), the byte length of all keys, each an
unsigned 32-bit little-endian integer; then all keys in UTF-8, then all values. n is kept beside the frame.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import zstandard

from schemas.errors import EngineError

PLAIN, ZSTD = 0, 1
_WORTH_PACKING = 128


class Packed(NamedTuple):
    """A blob and how it is kept."""

    codec: int
    body: bytes


@cache
def _zstd() -> tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor]:
    return zstandard.ZstdCompressor(level=1), zstandard.ZstdDecompressor()


def pack(raw: bytes) -> Packed:
    """`raw` compressed where that saves a tenth or more, else as it is."""
    if len(raw) >= _WORTH_PACKING:
        small = _zstd()[0].compress(raw)
        if len(small) * 10 <= len(raw) * 9:
            return Packed(ZSTD, small)
    return Packed(PLAIN, raw)


def unpack(codec: int, body: bytes) -> bytes:
    """What was packed. Raises EngineError for a damaged body or an unknown codec."""
    if not isinstance(body, bytes):
        raise EngineError("a stored block is damaged (it holds no bytes): put back a copy")
    if codec == PLAIN:
        return body
    if codec != ZSTD:
        raise EngineError(f"a stored block is kept in a way unknown here ({codec}): it was written by a newer casetape")
    try:
        return _zstd()[1].decompress(body)
    except (zstandard.ZstdError, MemoryError) as error:
        raise EngineError(f"a stored block is damaged ({error}): put back a copy") from error


def frame(pairs: Sequence[tuple[str, bytes]]) -> bytes:
    """The pairs as one frame."""
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    text = "".join(keys).encode()
    head = struct.pack(f"<{2 * len(pairs) + 1}I", *map(len, keys), *map(len, values), len(text))
    return b"".join((head, text, *values))


def unframe(raw: bytes, count: int, first: int = 0, last: int | None = None) -> tuple[list[str], list[bytes]]:
    """Keys and values of the pairs `first` up to, not including, `last` (0-based; None: all) of a frame of `count`.
    Raises EngineError where it is no such frame."""
    last = count if last is None else min(last, count)
    try:
        lengths = struct.unpack_from(f"<{2 * count + 1}I", raw)
        begin = 4 * len(lengths)
        values_at = begin + lengths[-1]
        text = raw[begin:values_at].decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise _no_frame(count) from error
    if len(text) != sum(lengths[:count]) or len(raw) != values_at + sum(lengths[count:-1]):
        raise _no_frame(count)
    key_ends = list(accumulate(lengths[first:last], initial=sum(lengths[:first])))
    value_ends = list(
        accumulate(lengths[count + first : count + last], initial=values_at + sum(lengths[count : count + first]))
    )
    keys = [text[a:b] for a, b in pairwise(key_ends)]
    values = [raw[a:b] for a, b in pairwise(value_ends)]
    return keys, values


def _no_frame(count: int) -> EngineError:
    return EngineError(f"a stored block is damaged (it is no frame of {count} pairs): put back a copy")
