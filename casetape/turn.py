"""One at a time on a home: a run that shares its services with another would count the other's work, conclude what the
other has only half fed, and lend it its own detectors. Feeding and looking need no turn."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.log import EventLog
from engines.sqlite import FILE as DATABASE
from schemas.errors import CasetapeError

FILE = "casetape.lock"
RUN, UP = "run", "up"
"""Who takes turns, as the lock's file names them."""
_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 5.0
_SURE = 5
"""So many looks in a row must find the same holder: whoever only asks who has the lock holds it for a moment, too."""


class HomeBusy(CasetapeError):
    """`casetape up` is at work on this home."""

    code = "home_busy"
    retriable = True


class HomeLost(CasetapeError):
    """The home was removed or replaced while `casetape up` was at work on it."""

    code = "home_lost"


@contextmanager
def turn(
    home: Path, tell: Callable[[str], None], verb: str = RUN, stopped: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Holds the home's lock in the name of a verb, after waiting for a run that has it. The kernel lets go of it when
    its holder dies, at no other moment: so nobody can find that its turn has expired under it.

    Raises HomeBusy where `casetape up` has it, which does not end by itself; KeyboardInterrupt where it is `stopped`
    while it waits.
    """
    handle = os.open(home / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        looks = 0
        while not _taken(handle):
            looks += 1
            if stopped():
                raise KeyboardInterrupt
            if looks >= _SURE and _name_in(handle) == UP:
                raise HomeBusy(
                    f"`casetape up` is at work on {home}, and works off what `casetape feed` puts there; stop it first"
                )
            if looks == _SURE:
                tell(f"another run is at work on {home}: waiting for it to end")
            time.sleep(_LOOK_SECONDS)
        os.truncate(handle, 0)
        os.pwrite(handle, verb.encode(), 0)
        yield
    finally:
        os.close(handle)


def alone(log: EventLog, group: str, session: float, tell: Callable[[str], None]) -> None:
    """Waits until nobody is at work in the group: members that were killed are counted until their session (seconds) is
    over. On a cluster others may be at work on other machines, where no lock of ours reaches. Raises HomeBusy."""
    until = time.monotonic() + session + _GRACE_SECONDS
    told = False
    while count := log.members(group):
        if time.monotonic() > until:
            raise HomeBusy(f"{count} are at work in group {group}: stop them first")
        if not told:
            tell(f"group {group} has members still: waiting for them to leave")
            told = True
        time.sleep(_LOOK_SECONDS)


def holder(home: Path) -> str | None:
    """The verb that has the home's lock now (`run`, `up`), or None."""
    try:
        handle = os.open(home / FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return None if _taken(handle) else _name_in(handle)
    finally:
        os.close(handle)


def identity(home: Path) -> tuple[tuple[int, int] | None, ...]:
    """Which files lie in the home under the names of the lock and the database; None where none does. Whoever holds the
    lock of a file that has lost its name holds nothing."""
    return tuple(_identity(home / name) for name in (FILE, DATABASE))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name_in(handle: int) -> str:
    return os.pread(handle, 32, 0).decode(errors="replace") or RUN
