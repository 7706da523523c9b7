"""Packed: a gzip file that is complete, fed from front to back in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workers.feed.intake import Intake
from workers.feed.options import FeedCounts
from workers.feed.source import Piece, Source
from workers.feed.turns import portion


class Packed:
    """The content of a gzip file from where the ledger knows it; the same properties and methods as `Growing`.

    `begin` reads up to that place. It is done again where the file was closed between two turns.
    """

    unsure = False
    unfinished = 0

    def __init__(self, begin: Callable[[], tuple[Source, Intake]]) -> None:
        self.time: int | None = None
        self._begin = begin
        # a first line is as far as it may go until its time is known
        self._limit: int | None = 0
        self._pieces: Iterator[Piece] | None = None
        self._piece: Piece | None = None
        self._open()
        self.more = self._piece is not None

    def grown(self) -> bool:
        """False: what has changed is another content."""
        return False

    def turn(self, limit: int | None) -> FeedCounts:
        """Feeds the next piece. Raises EngineError, and OSError."""
        self._limit = limit
        counts = FeedCounts()
        if self._pieces is None:
            known = self.intake.mark.records
            self._open()
            meanwhile = max(0, self.intake.mark.records - known)
            counts = FeedCounts(read=meanwhile, already_fed=meanwhile)
        if self._piece is not None:
            counts += self.intake.take(self._piece, self._source.content, self._source.damage)
            self._next()
        self.more = self._piece is not None
        return counts

    def tail(self) -> FeedCounts:
        """Nothing: all of it is fed in turns, its last line too."""
        return FeedCounts()

    def park(self) -> None:
        """Lets go of what is only needed while it is read."""
        self._pieces = self._piece = None

    def _open(self) -> None:
        self._source, self.intake = self._begin()
        self._source.portion = lambda lines, start: portion(lines, start, self._limit, self.intake.time_of)
        self._pieces = self._source.pieces()
        self._next()

    def _next(self) -> None:
        self._piece = next(self._pieces, None) if self._pieces is not None else None
        if self._piece is not None and self._piece.lines:
            time = self.intake.time_of(self._piece.lines[0])
            self.time = self.time if time is None else time
