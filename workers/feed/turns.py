"""Whose turn it is, where several files have lines to be fed: those that are behind in event time; pure.

A case's clock moves with the newest event of its subject, whatever stream that comes from. One log that is read far
ahead of the others would make theirs late (I10), so that all of them are read about abreast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas.scales import MINUTE
from workers.feed.source import PIECE_LINES

ABREAST = 10 * MINUTE
"""A file is read until it is this far (event time, microseconds) ahead of the other one that is furthest behind."""


def limits(times: Sequence[int | None]) -> list[int | None]:
    """By file, up to which event time it may be read now, given that of the next line of each file that has one. None:
    as far as it goes. A file without a time waits for nobody, and nobody waits for it."""
    known = sorted(time for time in times if time is not None)
    if not known:
        return [None] * len(times)
    others = known[1] + ABREAST if len(known) > 1 else None
    return [None if time is None else others if time == known[0] else known[0] + ABREAST for time in times]


def due(time: int | None, limit: int | None) -> bool:
    """Whether a file whose next line has this time may be read."""
    return time is None or limit is None or time <= limit


def portion(lines: Sequence[bytes], start: int, limit: int | None, time_of: Callable[[bytes], int | None]) -> int:
    """How many of the lines from `start` on to read at once, at least one: as many as a piece may have, or so few that
    the last of them is not beyond the limit, as far as its time can be told."""
    count = min(PIECE_LINES, len(lines) - start)
    if limit is None:
        return count
    while count > 1 and (time := time_of(lines[start + count - 1])) is not None and time > limit:
        count //= 2
    return count
