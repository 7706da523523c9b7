"""Follower: files and folders whose lines are fed as they are written, across rotation, until somebody says enough.

    follower = Follower(feeder, paths, tell)       # nothing is read yet
    while not stopped():
        if not follower.step():                    # False: nothing more to read for now
            wait(follower.interval)
    follower.close()
    follower.counts                                # of all of it: read = appended + already_fed + quarantined

`keep_following(follower, wait, tell)` is that loop. A follower handles no signal, starts no thread and sleeps nowhere;
it is not for several threads at once. What `step` has read is on the tape and in the ledger when it returns: a follower
may be dropped at any time, and another one goes on where the ledger says.

- **New lines** are read from where the last ones ended: neither a handle is reopened nor a byte read twice, as long as
  the file is one of the `handles` that changed last. A last line waits for its line feed, and is never fed in halves.
- **Renamed** files are known by device and inode. The old file is read to its end, under its new name or none, before
  the new one under its name; a file that has lost its name stays open until it has not grown for 10 s.
- **Cut shorter, or written anew in place** (`copytruncate`): noticed by the size, or by the last bytes that were read
  being others; the file is read from its beginning. What had not been read before is in the copy, if it is followed.
- **Copies and gzip files** of what was followed: the ledger knows their content. They are taken up once they are
  complete (10 s without a change) and what they are a copy of has been read, so that nothing is fed twice.
- **A last line without a line feed** of a file that was rotated away, or has not changed for a day, is fed as `feed`
  does it: nobody will finish it. Of any other file it is left when following ends, and the next feed takes it: half a
  line on the tape, or in quarantine, would stay there.
- **Order**: a file is read while its event time is at most 10 minutes ahead of the one that is furthest behind
  (`workers.feed.turns`), and of those each in its turn.
- **Limits**: what was renamed or copied away while nobody followed is found in a folder only. A file that is not among
  the `handles` that changed last, grows, and leaves the folder before the next look, is lost to the follower.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import CasetapeError, UsageError
from schemas.scales import SECOND
from workers.feed.feeder import Feeder
from workers.feed.followed import Content, Followed
from workers.feed.known import Known
from workers.feed.look import look
from workers.feed.options import FeedCounts
from workers.feed.plan import STDIN
from workers.feed.serving import Serving
from workers.feed.takeup import TakeUp

LOOKS = 20
"""Looks take at most one part in so many of the time: in a folder of very many files they are further apart."""
LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """`interval`: seconds between two looks at the paths. `handles`: so many files stay open between two looks, besides
    those that have lost their name; those of them that changed last."""

    interval: float = 1.0
    handles: int = 100


class Follower:
    """Follows files and folders, which need not exist yet, by the choices of a feeder.

    `tell` gets a sentence about what somebody should know: a path that is waited for, a file that no reader fits, one
    that was cut shorter. `monotonic` gives seconds. Raises UsageError for what cannot be followed: the standard input,
    and options that are for one text.
    """

    def __init__(
        self,
        feeder: Feeder,
        paths: Sequence[str | Path],
        tell: Callable[[str], None],
        options: FollowOptions | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if STDIN in map(str, paths):
            raise UsageError("the standard input is read until it ends: feed it without --follow")
        if feeder.options.whole or feeder.options.request_id is not None:
            raise UsageError("--whole and --request-id are for one text, not for what grows: leave out --follow")
        options = options or FollowOptions()
        self.interval = options.interval
        self._handles = options.handles
        self._paths = tuple(map(str, paths))
        self._feeder = feeder
        self._tell = tell
        self._now = monotonic
        self._known = Known(tell)
        self._takeup = TakeUp(feeder, tell)
        self._serving = Serving(tell, monotonic)
        self._busy: list[Followed] = []
        self._next_look = -math.inf

    @property
    def counts(self) -> FeedCounts:
        """Of everything so far."""
        return self._serving.counts

    def step(self) -> bool:
        """Looks at the paths if it is time to, and feeds at most one batch of each file that has lines; whether there
        is more to do at once.

        Raises EngineError: what of it was not noted is fed again by the next step, if that is called.
        """
        now = self._now()
        if self._next_look <= now:
            self._look(now)
            self._next_look = max(now + self.interval, now + LOOKS * (self._now() - now))
        try:
            self._finish(now)
            if self._take_up(now):
                return True
            self._serving.round(self._busy)
        finally:
            self._close_surplus()
        return any(file.more for file in self._busy)

    def close(self) -> None:
        """Ends it: what was rotated away is read to its end, since nobody would look for it later; of other files last
        lines without a line feed are left, and told. Raises EngineError; all files are closed even so."""
        try:
            for file in list(self._files):
                if file.gone is not None:
                    self._read_out(file)
                if file.lost and not file.more:
                    self._serving.last_line(file)
                self._serving.settle(file)
        finally:
            for file in self._files:
                file.handle.close()

    @property
    def _files(self) -> Iterable[Followed]:
        return self._known.files.values()

    def _look(self, now: float) -> None:
        wall = self._feeder.clock() / SECOND
        changed = set(self._known.update(look(self._paths), now, wall))
        for file in self._files:
            if file.content is not None and (file in changed or file.content.unsure):
                self._grown(file, file.content)
        self._busy = [file for file in self._files if not file.idle]

    def _grown(self, file: Followed, content: Content) -> None:
        try:
            if content.grown():
                return
        except OSError:
            return  # it is unsure from now on, and asked again at the next look
        file.anew()
        self._tell(f"{file.handle.path} no longer holds what was read of it: it is read from its beginning")

    def _take_up(self, now: float) -> bool:
        """Whether there are more files to take up before any is read: which is behind is known only then."""
        waiting = sorted(
            (file for file in self._busy if file.to_be_tried(now)), key=lambda file: file.tried is not None
        )
        unread = {file.place for file in self._busy if file.unread} if waiting else set()
        for file in self._serving.in_time(waiting):
            self._serving.counts += self._takeup.take(file, unread, now)
            if file.unread:
                unread.add(file.place)
        return any(file.tried is None and file.content is None for file in waiting)

    def _finish(self, now: float) -> None:
        for file in [file for file in self._busy if not file.more and file.end <= now]:
            self._serving.last_line(file)
            if file.gone is not None and not file.to_be_tried(now):
                self._serving.settle(file)
                self._known.forget(file)
                self._busy.remove(file)

    def _read_out(self, file: Followed) -> None:
        if file.content is None and file.handle.is_open:
            self._serving.counts += self._takeup.take(file, set(), file.end)
        while file.more:
            self._serving.turn(file, None)

    def _close_surplus(self) -> None:
        # only what is read is opened
        open_files = [file for file in self._files if file.handle.is_open and file.gone is None] if self._busy else []
        surplus = len(open_files) - self._handles
        if surplus > 0:
            for file in sorted(open_files, key=lambda file: (file.given, file.changed))[:surplus]:
                if file.content is not None:
                    file.content.park()
                file.handle.close()


def keep_following(
    follower: Follower,
    wait: Callable[[float], bool],
    tell: Callable[[str], None],
    each: Callable[[FeedCounts], None] | None = None,
) -> None:
    """Steps until it is told to stop, then closes. `wait(seconds)` returns as soon as it is told, and whether it is
    (`Stop.wait`). What may pass (a full disk, an engine that does not answer) is told and waited for. `each` gets the
    counts after each step. Raises what does not pass."""
    pause = 0.0
    while not wait(0.0):
        try:
            more = follower.step()
        except CasetapeError as error:
            if not error.retriable:
                raise
            pause = min(LONGEST_PAUSE, pause * 2 or 1.0)
            tell(f"{error} It is tried again in {pause:g} s.")
            wait(pause)
            continue
        if pause:
            pause = 0.0
            tell("following goes on")
        if each is not None:
            each(follower.counts)
        if not more:
            wait(follower.interval)
    follower.close()
