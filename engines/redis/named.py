"""Values by name: a hash of them, and a zset of the names in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.redis.connection import Argument, Link
from engines.redis.part import text

_PAGE = 500


def named(
    link: Link, keys: Sequence[str], prefix: str, *, after: str = "", limit: int | None = None
) -> Iterator[tuple[str, bytes]]:
    """Those whose name begins with `prefix` and lies beyond `after`, by name, at most `limit`. `keys`: of names and
    values."""
    begin: Argument = f"[{prefix}" if prefix > after else f"({after}" if after else "-"
    # no name in UTF-8 holds this byte
    end: Argument = b"(" + prefix.encode() + b"\xff" if prefix else "+"
    left = limit
    while left is None or left > 0:
        most = _PAGE if left is None else min(_PAGE, left)
        found = link.one(*link.script("named", keys, (begin, end, most)))
        for name, value in zip(found[::2], found[1::2], strict=True):
            yield text(name), value
        if len(found) < 2 * most:
            return
        begin = b"(" + found[-2]
        left = None if left is None else left - most
