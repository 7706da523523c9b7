"""One run at a time on a home: a run that shares its services with another would count the other's work, conclude what
the other has only half fed, and lend it its own detectors. Feeding and looking need no turn."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = "casetape.lock"


@contextmanager
def turn(home: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """Holds the home's lock, after waiting for whoever has it. The kernel lets go of it when its holder dies, at no
    other moment: so no run can find that its turn has expired under it."""
    handle = os.open(home / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"another run is at work on {home}: waiting for it to end")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
