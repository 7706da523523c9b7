"""The rows of a window in the store: blocks sorted by name, as MessagePack under zstd (no pickle)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import zstandard

from workers.detection.groups import Group, Name
from workers.detection.rows import Table
from workers.detection.seen import ID_BYTES
from workers.detection.windowed import Int64s

BLOCK_ROWS = 10_000


class Block(NamedTuple):
    """One block to be stored: how many rows, the first name in it, the bytes."""

    rows: int
    first: Name
    body: bytes


class _Body(msgspec.Struct, array_like=True):
    names: list[Name]
    counts: list[int]
    ids: bytes
    at: bytes
    offset: bytes
    numbers: bytes
    labels: list[str | None]
    label: bytes


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Body).decode


def saved_blocks(table: Table, start: int) -> Iterator[Block]:
    """The table's rows from place `start` on as blocks, in order of name."""
    if start == len(table):
        return
    whole = table.sorted_since(start)
    for first in range(0, len(whole.ranks), BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        cells = whole.cells[rows]
        places, counts = np.unique(whole.ranks[rows], return_counts=True)
        names = [whole.names[place] for place in places.tolist()]
        ids, at, offset, numbers = table.parts_of(cells)
        group = Group(names[0], ids, at, offset, numbers, table.labels_of(cells))
        yield _block([group], names, counts.tolist())


def blocks(groups: Iterable[Group]) -> Iterator[Block]:
    """Groups in order of name as blocks."""
    pending: list[Group] = []
    count = 0
    for group in groups:
        for start in range(0, len(group.at), BLOCK_ROWS):
            piece = group.cut(start, start + BLOCK_ROWS)
            pending.append(piece)
            count += len(piece.at)
            if count >= BLOCK_ROWS:
                yield _block(pending, [one.name for one in pending], [len(one.at) for one in pending])
                pending, count = [], 0
    if pending:
        yield _block(pending, [one.name for one in pending], [len(one.at) for one in pending])


def _block(groups: Sequence[Group], names: list[Name], counts: list[int]) -> Block:
    labels: dict[str | None, int] = {}
    label = [labels.setdefault(one, len(labels)) for group in groups for one in group.labels]
    body = _Body(
        names=names,
        counts=counts,
        ids=b"".join(group.ids.tobytes() for group in groups),
        at=b"".join(group.at.tobytes() for group in groups),
        offset=b"".join(group.offset.tobytes() for group in groups),
        numbers=b"".join(group.numbers.tobytes() for group in groups),
        labels=list(labels),
        label=np.array(label, dtype=np.int32).tobytes(),
    )
    packed = zstandard.ZstdCompressor(level=1).compress(_pack(body))
    return Block(sum(counts), names[0], packed)


def decoded(body: bytes, columns: int, case: str | None = None) -> Iterator[Group]:
    """The groups of a block, or those of one case, in order of name; within a group by event time, ties in any
    order."""
    block = _unpack(zstandard.ZstdDecompressor().decompress(body))
    ids = np.frombuffer(block.ids, dtype=np.uint8).reshape(-1, ID_BYTES)
    at, offset = _words(block.at), _words(block.offset)
    numbers = _words(block.numbers).reshape(len(at), columns)
    label = np.frombuffer(block.label, dtype=np.int32)
    start = 0
    for name, count in zip(block.names, block.counts, strict=True):
        rows = slice(start, start + count)
        start += count
        if case is None or name[0] == case:
            labels = [block.labels[code] for code in label[rows].tolist()]
            yield Group(name, ids[rows], at[rows], offset[rows], numbers[rows], labels)


def _words(packed: bytes) -> Int64s:
    return np.frombuffer(packed, dtype=np.int64)
