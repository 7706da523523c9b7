"""Growing: a plain file that is still being written, fed up to its last line feed, and never read twice."""

from __future__ import annotations

import os
from collections.abc import Iterator

from workers.feed.handle import Handle
from workers.feed.intake import Intake
from workers.feed.options import FeedCounts
from workers.feed.sniff import HEAD
from workers.feed.source import BLOCK, KNOWN, Hash, Piece, Source
from workers.feed.turns import portion

_AHEAD = 8
"""So many lines are looked at for the time of the next one."""


class Range:
    """A part of a file as a stream, whatever else is read of the file. `known`: the bytes before it. `changed`: whether
    it was seen that the file holds something else by now."""

    def __init__(self, descriptor: int, start: int, end: int, known: bytes) -> None:
        self.changed = False
        self._descriptor = descriptor
        self._at = start
        self._end = end
        self._known = known

    def read1(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end of the part, or of the file where that has become shorter, and from
        where on the file has changed."""
        known = self._known
        data = os.pread(self._descriptor, min(size, self._end - self._at), self._at)
        # after the read: what was cut and written anew meanwhile, however long it is now, differs around the place
        around = known + data[:KNOWN]
        if os.pread(self._descriptor, len(around), self._at - len(known)) != around:
            self.changed = True
            return b""
        self._at += len(data)
        self._known = (known + data[-KNOWN:])[-KNOWN:]
        return data


def lines_end(descriptor: int, start: int, end: int) -> int:
    """The place after the last line feed between two places of a file; `start` where there is none."""
    while end > start:
        size = min(BLOCK, end - start)
        found = os.pread(descriptor, size, end - size).rfind(b"\n")
        if found >= 0:
            return end - size + found + 1
        end -= size
    return start


class Growing:
    """What is fed of a file, and what is not yet. `time`: the event time of the next line, microseconds. `unsure`: what
    is there could not be read; `grown` says whether it can now.

    Between two turns all it needs is the intake's mark and the running digest: its file may be closed.
    """

    def __init__(self, handle: Handle, source: Source, intake: Intake) -> None:
        self.intake = intake
        self.unsure = False
        self._handle = handle
        self._content: Hash = source.content
        self._source: Source | None = None
        self._pieces: Iterator[Piece] = iter(())
        self._known = source.last
        self._end = self._scanned = intake.mark.length
        self.time: int | None = None
        self.grown()

    @property
    def more(self) -> bool:
        """Whether there are whole lines that are not fed."""
        return self._end > self.intake.mark.length

    @property
    def unfinished(self) -> int:
        """How many bytes there are of a last line without its line feed, of which nothing is fed."""
        mark = self.intake.mark
        return 0 if self.more or mark.tail else self._scanned - mark.length

    def grown(self) -> bool:
        """Takes in that the file has changed; False where what was fed of it is no longer in it. Raises OSError."""
        self.unsure = True
        descriptor, length = self._handle.descriptor(), self.intake.mark.length
        size = os.fstat(descriptor).st_size
        known = self._known
        if size < length or os.pread(descriptor, len(known), length - len(known)) != known:
            return False
        if size < self._scanned:
            self.park()
            self._end = self._scanned = length
        end = lines_end(descriptor, self._scanned, size)
        if end > self._scanned:
            self._end = end
        self._scanned = size
        self._look_ahead()
        self.unsure = False
        return True

    def turn(self, limit: int | None) -> FeedCounts:
        """Feeds the next of the lines that are there, at least one, and of those beyond an event time (microseconds) no
        more than that. Raises EngineError, and OSError."""
        source = self._source
        if source is None:
            source = self._source = Source(self._part(self._end), self._content, self._known)
            self._pieces = source.pieces()
        source.portion = lambda lines, start: portion(lines, start, limit, self.intake.time_of)
        piece = next(self._pieces, None)
        if piece is None or piece.end != "line":
            # it was cut shorter or written anew just now, or cannot be read: the next look says which
            self._content = source.content if piece is None else piece.before
            self.park()
            self._end = self._scanned = self.intake.mark.length
            self.unsure = True
            return FeedCounts()
        counts = self.intake.take(piece, source.content, None)
        self._content, self._known = source.content, source.last
        if not self.more:
            self.park()
        self._look_ahead()
        return counts

    def tail(self) -> FeedCounts:
        """Feeds the last line without its line feed, as the feed of a file that does not grow would: nobody writes it
        any more. Should it go on after all, the ledger knows what was fed of it."""
        part = self._part(self._scanned)
        source = Source(part, self._content.copy())
        counts = FeedCounts()
        for piece in source.pieces():
            if part.changed:
                break
            counts += self.intake.take(piece, source.content, source.damage)
        self.unsure = self.unsure or part.changed
        return counts

    def park(self) -> None:
        """Lets go of what is only needed while it is read."""
        self._source, self._pieces = None, iter(())

    def _part(self, end: int) -> Range:
        return Range(self._handle.descriptor(), self.intake.mark.length, end, self._known)

    def _look_ahead(self) -> None:
        start = self.intake.mark.length
        ahead = os.pread(self._handle.descriptor(), min(HEAD, self._end - start), start).split(b"\n", _AHEAD)[:_AHEAD]
        times = (self.intake.time_of(line) for line in ahead if line)
        self.time = next((time for time in times if time is not None), self.time)
