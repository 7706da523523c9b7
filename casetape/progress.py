"""Looking at how far a group is, in a thread of its own: where a server does not answer, that holds up nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from casetape.lagging import Position, positions_of
from engines.engine import Engine
from schemas.errors import CasetapeError

LOOK_SECONDS = 2.0
LEAVE_SECONDS = 5.0


class Seen(NamedTuple):
    """The positions as of `at` (monotonic seconds), and why they could not be looked at since, or None."""

    at: float
    positions: Sequence[Position]
    trouble: CasetapeError | None


@dataclass
class Progress:
    """The last look; it is replaced, never changed."""

    seen: Seen = field(default_factory=lambda: Seen(time.monotonic(), (), None))


@contextmanager
def looking(engine: Engine, group: str, topic: str) -> Iterator[Progress]:
    """Looks every two seconds, until the block ends. Nobody else uses the engine meanwhile."""
    progress, enough = Progress(), threading.Event()

    def look() -> None:
        while not enough.wait(LOOK_SECONDS):
            try:
                found = positions_of(engine, group, topic)
            except CasetapeError as error:
                progress.seen = progress.seen._replace(trouble=error)
            else:
                progress.seen = Seen(time.monotonic(), found, None)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        enough.set()
        thread.join(LEAVE_SECONDS)
