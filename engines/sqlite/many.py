"""Questions about many values at once, within what SQLite takes in one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
_AT_ONCE = 500


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """`values` in order, in pieces that fit one query."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def marks(values: Sequence[object]) -> str:
    """As many parameter marks as values."""
    return ",".join("?" * len(values))
