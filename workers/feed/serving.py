"""Serving: files that were taken up are fed in turns, and all of it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from schemas.errors import EngineError
from workers.feed.followed import Content, Followed
from workers.feed.options import FeedCounts
from workers.feed.telling import timeless
from workers.feed.turns import due, limits

AT_ONCE = 64
STEP_SECONDS = 0.5
"""One step deals with at most so many files, and begins with no other after so many seconds: it comes back soon."""

_T = TypeVar("_T")


class Serving:
    """Feeds files. `counts`: of all of them. `tell` gets sentences, `monotonic` gives seconds."""

    def __init__(self, tell: Callable[[str], None], monotonic: Callable[[], float]) -> None:
        self.counts = FeedCounts()
        self._tell = tell
        self._now = monotonic
        self._turns = 0

    def in_time(self, all_of_them: Sequence[_T]) -> Iterator[_T]:
        """The first of them, as many as fit into one step."""
        end = self._now() + STEP_SECONDS
        for at, one in enumerate(all_of_them[:AT_ONCE]):
            if at > 0 and self._now() > end:
                return
            yield one

    def round(self, files: Iterable[Followed]) -> None:
        """A turn for each file that has lines and is not too far ahead of the others, those first that have waited
        longest. Raises EngineError."""
        waiting = [file for file in files if file.more and not file.waits]
        times = [file.time for file in waiting]
        pairs = zip(waiting, times, limits(times), strict=True)
        chosen = [(file, limit) for file, time, limit in pairs if due(time, limit)]
        for file, limit in self.in_time(sorted(chosen, key=lambda pair: pair[0].served)):
            self.turn(file, limit)

    def turn(self, file: Followed, limit: int | None) -> None:
        """Feeds the next lines of a file, up to an event time. Raises EngineError."""
        self._turns += 1
        file.served = self._turns
        self._feed(file, lambda content: content.turn(limit))

    def last_line(self, file: Followed) -> None:
        """Feeds a last line that nobody will end, once. Raises EngineError."""
        if file.content is not None and file.content.unfinished and not file.finished:
            file.finished = True
            self._feed(file, lambda content: content.tail())

    def settle(self, file: Followed) -> None:
        """Says that no more is fed of a file, and what of it is not. Raises EngineError."""
        content = file.content
        if content is None:
            return
        if content.unfinished and not file.finished:
            self._tell(f"{file.handle.path}: its last line has no line feed yet, and is left for the next feed")
        if content.intake.moved:
            content.intake.settle()

    def _feed(self, file: Followed, some: Callable[[Content], FeedCounts]) -> None:
        if file.content is None:
            return
        try:
            counts = file.count(some(file.content))
        except (OSError, EngineError) as error:
            # what the tape and the ledger have of it is for the ledger to say, once it can be read again
            file.content, file.tried = None, None
            if isinstance(error, EngineError):
                raise
            return
        self.counts += counts
        if counts.appended and not file.judged:
            file.judged = True
            if (said := timeless(file.handle.path, counts)) is not None:
                self._tell(said)
