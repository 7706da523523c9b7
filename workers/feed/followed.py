"""Followed: what is known of one file that is being followed, whatever it is called at the moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from workers.feed.handle import Handle
from workers.feed.intake import Intake
from workers.feed.look import Seen
from workers.feed.options import FeedCounts
from workers.feed.sniff import Choice

SETTLED = 10.0
"""Seconds without a change after which a file that was rotated away, a gzip file, or a copy counts as complete."""
ABANDONED = 86_400.0
"""The same for a file under its own name, which might still be written."""


class Content(Protocol):
    """What a file holds, fed in turns: `Growing` or `Packed`, where all of this is explained."""

    @property
    def intake(self) -> Intake: ...

    @property
    def time(self) -> int | None: ...

    @property
    def more(self) -> bool: ...

    @property
    def unsure(self) -> bool: ...

    @property
    def unfinished(self) -> int: ...

    def grown(self) -> bool: ...

    def turn(self, limit: int | None) -> FeedCounts: ...

    def tail(self) -> FeedCounts: ...

    def park(self) -> None: ...


@dataclass(slots=True, eq=False)
class Followed:
    """One file. Times are those of the monotonic clock, in seconds.

    `changed`: when it was last seen to have changed, or its own word for that at first sight. `content`: None as long
    as it is not taken up; then `tried` is how it looked when that failed, and `due` when it is tried again although it
    looks the same, `held` since when it waits for what it may be a copy of, `refused` whether no reader fits and none
    ever will, `said` what was told of it. `place`: of its content in the ledger. `counted`: records of its content that
    are in the counts. `served`: its last turn. `after`: the file that had its name before,
    whose lines come first. `rotated`: when it lost a name; `gone`: since when it has none that is followed.
    `finished`: its last line was fed without a line feed. `judged`: it was looked whether what it holds has times.
    """

    handle: Handle
    given: bool
    size: int
    modified: int
    changed: float
    content: Content | None = None
    choice: Choice | None = None
    tried: tuple[int, int] | None = None
    due: float = 0.0
    held: float | None = None
    refused: bool = False
    said: str = ""
    place: str = ""
    counted: int = 0
    served: int = 0
    after: Followed | None = field(default=None, repr=False)
    rotated: float | None = None
    gone: float | None = None
    finished: bool = False
    judged: bool = False

    @property
    def more(self) -> bool:
        """Whether lines of it are waiting."""
        return self.content is not None and self.content.more

    @property
    def time(self) -> int | None:
        """The event time of its next line, microseconds, as far as that is known."""
        return None if self.content is None else self.content.time

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be done about it until it changes."""
        content = self.content
        return content is not None and self.gone is None and not content.more and not content.unfinished

    @property
    def lost(self) -> bool:
        """Whether it has lost its name, so that its writer will leave it soon."""
        return self.rotated is not None or self.gone is not None

    @property
    def unread(self) -> bool:
        """Whether something of it will be fed without anything being written to it."""
        if self.content is None:
            return False
        return self.content.more or (self.lost and not self.finished and self.content.unfinished > 0)

    @property
    def waits(self) -> bool:
        """Whether lines of the file before it come first."""
        return self.after is not None and self.after.more

    def differs(self, size: int, modified: int, now: float) -> bool:
        """Takes in how it looks now; whether that is another look than before."""
        if (size, modified) == (self.size, self.modified):
            return False
        self.refused = self.refused and size >= self.size
        self.size, self.modified, self.changed, self.finished = size, modified, now, False
        return True

    def to_be_tried(self, now: float) -> bool:
        """Whether it may be taken up now."""
        if self.content is not None or self.refused:
            return False
        return self.tried != (self.size, self.modified) or 0 < self.due <= now

    def put_off(self, until: float = 0.0) -> None:
        """Leaves it alone until it changes, or until this time."""
        self.tried, self.due = (self.size, self.modified), until

    def anew(self) -> None:
        """What it holds is another content now; of the old one only the reader is remembered."""
        self.content, self.tried, self.held, self.refused = None, None, None, False
        self.counted, self.finished = 0, False

    @property
    def end(self) -> float:
        """From when on nobody writes it any more, as far as one can tell."""
        since = max(self.changed, self.rotated or 0.0, self.gone or 0.0)
        return since + (SETTLED if self.lost else ABANDONED)

    def count(self, counts: FeedCounts) -> FeedCounts:
        """The counts, after noting that the content is counted as far as its mark."""
        if self.content is not None:
            self.counted = max(self.counted, self.content.intake.mark.records)
        return counts


def first_seen(seen: Seen, now: float, age: float) -> Followed:
    """A file that was not known before, last modified `age` seconds ago by its own word."""
    return Followed(Handle(seen.path, seen.identity), seen.given, seen.size, seen.modified, now - max(0.0, age))
