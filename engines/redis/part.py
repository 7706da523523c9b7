"""What all parts of the store have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from engines.redis.connection import Link
from engines.redis.watch import Watch

T = TypeVar("T")
FIELDS_AT_ONCE = 2_000
"""Fields in one call."""


class Part:
    """A part of the store: the link, the watch over it, and the names of keys."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._watch = Watch(link)
        self._keys = link.keys


def chunks(values: Sequence[T], most: int = FIELDS_AT_ONCE) -> Iterator[Sequence[T]]:
    """`values` in order, in pieces."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def text(kept: bytes) -> str:
    """A name as it was given."""
    return kept.decode()
