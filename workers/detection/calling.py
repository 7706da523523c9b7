"""Which plug-in is being called, noted where it outlives the process (I9): one that ends its process, or hangs outside
Python, is found out by whoever looks after the processes, and costs no more than its own word on that record.

The note is a page of memory shared with a file: writing it takes microseconds, and the kernel keeps it whatever becomes
of the process.
"""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SIZE = 4096
DEATHS = 3
"""A call under which a process died so often is not made again."""
BATCH = "batch"
"""Stands for a call about many observations at once; after a death under it the detector is shown one at a time."""
_LENGTH = 2


class Call(NamedTuple):
    """A call into a detector, and what it is about: an observation's id, a window's key and end, or a batch."""

    detector: str
    about: str


class Underway(NamedTuple):
    """A call that was begun and has not ended, `began` in seconds on the machine's monotonic clock."""

    call: Call
    began: float


class Calling:
    """Notes the calls of one process. `path` None: they are not noted."""

    def __init__(self, path: Path | None = None) -> None:
        self._page: mmap.mmap | None = None
        if path is not None:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.ftruncate(handle, SIZE)
                self._page = mmap.mmap(handle, SIZE)
            finally:
                os.close(handle)
            self._page[:_LENGTH] = bytes(_LENGTH)

    @contextmanager
    def of(self, call: Call) -> Iterator[None]:
        """Notes a call for as long as it takes."""
        page = self._page
        if page is None:
            yield
            return
        said = json.dumps([*call, time.monotonic()]).encode()
        if len(said) > SIZE - _LENGTH:
            said = b""
        page[_LENGTH : _LENGTH + len(said)] = said
        # the length last: what is half written is no note
        page[:_LENGTH] = len(said).to_bytes(_LENGTH, "big")
        try:
            yield
        finally:
            page[:_LENGTH] = bytes(_LENGTH)


def underway(path: Path) -> Underway | None:
    """The call that a process is in, or died in; None where it is in none, or in one whose name is too long to note."""
    try:
        page = path.read_bytes()
    except FileNotFoundError:
        return None
    said = page[_LENGTH : _LENGTH + int.from_bytes(page[:_LENGTH], "big")]
    try:
        detector, about, began = json.loads(said)
    except ValueError:
        # none; or it was being written just now
        return None
    return Underway(Call(detector, about), began)


class Deaths:
    """How often processes died under which call. Pure but for its memory."""

    def __init__(self) -> None:
        self._times: dict[Call, int] = {}

    @property
    def total(self) -> int:
        """How many there were."""
        return sum(self._times.values())

    def count(self, call: Call) -> int:
        """Counts one more death under this call, and returns how many there were."""
        self._times[call] = self._times.get(call, 0) + 1
        return self._times[call]

    def suspects(self) -> list[Call]:
        """The calls not to be made again, sorted: those that were fatal `DEATHS` times, and batches after the first."""
        return sorted(call for call, times in self._times.items() if times >= (1 if call.about == BATCH else DEATHS))
