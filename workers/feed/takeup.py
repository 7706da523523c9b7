"""Taking a file up: when it can be told what it is, which reader fits, and how much of it the ledger knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Set

from schemas.errors import UsageError
from workers.feed.feeder import Feeder
from workers.feed.followed import SETTLED, Followed
from workers.feed.growing import Growing
from workers.feed.intake import Intake
from workers.feed.ledger import beyond_header
from workers.feed.options import FeedCounts
from workers.feed.packed import Packed
from workers.feed.plan import wanted
from workers.feed.sniff import HEAD, Choice
from workers.feed.source import GZIP, Source

AGAIN = 10.0
"""Seconds after which a file that cannot be read is tried again."""
_SOON = 1.0
_HELD = 60.0
"""Seconds that a file which may become a copy of what is fed already is waited for."""


class TakeUp:
    """Takes files up by a feeder's choices. `tell` gets a sentence, once, for each file that is left out."""

    def __init__(self, feeder: Feeder, tell: Callable[[str], None]) -> None:
        self._feeder = feeder
        self._tell = tell

    def take(self, file: Followed, unread: Set[str], now: float) -> FeedCounts:
        """Takes a file up, or puts it off; the counts of what of it is fed already. `unread`: the places in the ledger
        of files that are still being fed. Raises EngineError."""
        try:
            return self._take(file, unread, now)
        except FileNotFoundError:
            # it is gone, or has another name by now, which the next look finds
            file.put_off(now + _SOON)
        except OSError as error:
            self._say(file, f"cannot be read: {error.strerror or type(error).__name__}")
            file.put_off(now + AGAIN)
        finally:
            # one that only waits for its first line may be rotated away before the next look
            if file.content is None and file.said and file.gone is None:
                file.handle.close()
        return FeedCounts()

    def _take(self, file: Followed, unread: Set[str], now: float) -> FeedCounts:
        raw, over = file.handle.raw(), file.end <= now
        packed = os.pread(raw.fileno(), len(GZIP), 0) == GZIP
        if packed and not over and now - file.changed < SETTLED:
            file.put_off(file.changed + SETTLED)  # it may be being written
            return FeedCounts()
        raw.seek(0)
        head = Source(raw).head(HEAD)
        if not packed and not over and len(head) < HEAD:
            head = head[: head.rfind(b"\n") + 1]
        choice = self._choice(file, head) if beyond_header(head).strip() else None
        if choice is None:
            file.put_off(0.0 if over else file.end)
            return FeedCounts()
        file.place = self._feeder.ledger(choice).place(head)
        if self._copied(file, choice, head, unread, now, packed=packed):
            return FeedCounts()

        def begin() -> tuple[Source, Intake]:
            return self._feeder.begin(file.handle.raw(), file.handle.path, choice)

        file.content = Packed(begin) if packed else Growing(file.handle, *begin())
        file.choice, file.held, file.said = choice, None, ""
        already = max(0, file.content.intake.mark.records - file.counted)
        return file.count(FeedCounts(read=already, already_fed=already))

    def _choice(self, file: Followed, head: bytes) -> Choice | None:
        try:
            choice = self._feeder.choice(head, file.handle.path)
            if not file.given:
                wanted(choice, self._feeder.options)
        except UsageError as error:
            if file.choice is not None:
                return file.choice  # it was cut shorter and begins with something else now: it is still the same log
            self._say(file, str(error).removeprefix(f"{file.handle.path}: "))
            file.refused = len(head) >= HEAD
            return None
        return choice

    def _copied(
        self, file: Followed, choice: Choice, head: bytes, unread: Set[str], now: float, *, packed: bool
    ) -> bool:
        """Puts off a file that may be a copy of another whose lines are being fed (a rotation copies, then cuts; or
        packs): once that is fed, or the copy is complete, the ledger knows it."""
        if file.place in unread:
            file.put_off(now + _SOON)
            return True
        longest = max((mark.length for mark in self._feeder.ledger(choice).marks(head).values()), default=0)
        file.held = now if file.held is None else file.held
        growing = now - file.changed < SETTLED and now - file.held < _HELD
        if packed or file.size >= longest or not growing:
            return False
        file.put_off(min(file.changed + SETTLED, file.held + _HELD))
        return True

    def _say(self, file: Followed, reason: str) -> None:
        if file.said != reason:
            file.said = reason
            self._tell(f"left out: {file.handle.path}: {reason}")
