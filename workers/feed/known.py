"""Known: all files that are followed, by what they are and by what they are called, from look to look."""

from __future__ import annotations

import os
from collections.abc import Callable

from workers.feed.followed import Followed, first_seen
from workers.feed.look import Identity, Look


class Known:
    """The files. A rename is another name of the same file, and what then lies under the old name another file.
    `tell` gets sentences about paths that are not there or cannot be looked at, each once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.files: dict[Identity, Followed] = {}
        self._tell = tell
        self._names: dict[str, Followed] = {}
        self._told: dict[str, str] = {}
        self._found: set[str] = set()

    def update(self, found: Look, now: float, wall: float) -> list[Followed]:
        """Takes in a look; returns the files that were known and have changed. `now`: seconds of the monotonic clock,
        `wall`: seconds since 1970."""
        changed: list[Followed] = []
        names: dict[str, Followed] = {}
        first: dict[Identity, str] = {}
        for seen in found.seen:
            file = self.files.get(seen.identity)
            if file is None:
                file = self.files[seen.identity] = first_seen(seen, now, wall - seen.modified / 1e9)
                file.after = self._names.get(seen.path)
            elif seen.identity not in first and file.differs(seen.size, seen.modified, now):
                changed.append(file)
            names[seen.path] = file
            first.setdefault(seen.identity, seen.path)
            file.given = file.given or seen.given
        for file in self.files.values():
            if file.handle.identity in first:
                self._here(file, names, first[file.handle.identity], now)
            elif self._gone(file, now):
                changed.append(file)
        self._names = names
        self._say(found)
        return changed

    def forget(self, file: Followed) -> None:
        """Lets go of a file that is gone."""
        file.handle.close()
        del self.files[file.handle.identity]
        for other in self.files.values():
            if other.after is file:
                other.after = None

    def _here(self, file: Followed, names: dict[str, Followed], name: str, now: float) -> None:
        file.gone = None
        if names.get(file.handle.path) is file:
            return
        file.handle.path, file.rotated, file.tried = name, now, None
        if file.content is not None:
            file.content.intake.name = name

    def _gone(self, file: Followed, now: float) -> bool:
        if file.gone is None:
            file.gone = now
            file.due = file.end
        if not file.handle.is_open:
            return False
        # it may still be written by whoever has it open
        status = os.fstat(file.handle.descriptor())
        return file.differs(status.st_size, status.st_mtime_ns, now)

    def _say(self, found: Look) -> None:
        self._found |= {seen.path for seen in found.seen if seen.given}
        # between two files of one name there may be none for a moment, which is nothing to be told
        absent = [path for path in found.missing if path not in self._found]
        now = {path: f"left out: {path}: {reason}" for path, reason in found.troubles.items()}
        now |= {path: f"{path} does not exist yet: it is waited for" for path in absent}
        for path, sentence in now.items():
            if self._told.get(path) != sentence:
                self._tell(sentence)
        self._told = now
