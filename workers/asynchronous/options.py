"""How the asynchronous host works."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from workers.detection.calling import Call
from workers.detection.guard import CALL_SECONDS

AHEAD_LEAST = 32
AHEAD_TIMES = 4


@dataclass(frozen=True, slots=True)
class AsyncOptions:
    """`detectors_name`: the name of the set, part of the consumer group's. Times in seconds: `session` until a silent
    member loses its partitions, `call` for one answer of a detector, `stuck` until a process that finishes nothing
    though records wait ends itself, `save` between two saves at least, `grace` for calls under way when partitions are
    handed back.

    What bounds memory: at most `records` records of together `size` bytes are held that are not saved yet.
    What bounds repeats: of at most `ahead` records have detectors been asked without the answers being saved; None:
    four times the sum of the detectors' concurrencies, at least 32.

    `calling`: where calls into plug-ins are noted while they last; `suspects`: those not to be made, which may grow.
    """

    detectors_name: str
    session: float = 30.0
    call: float = CALL_SECONDS
    stuck: float = 60.0
    save: float = 0.05
    grace: float = 5.0
    records: int = 2_000
    size: int = 32 * 1024 * 1024
    ahead: int | None = None
    secret: bytes | None = None
    calling: Path | None = None
    suspects: Container[Call] = frozenset()

    @property
    def group(self) -> str:
        """The consumer group, without the prefix of the engine's."""
        return f"detect-async-{self.detectors_name}"

    def bound(self, concurrency: int) -> int:
        """`ahead`, where the detectors' concurrencies come to this together."""
        return max(AHEAD_LEAST, AHEAD_TIMES * concurrency) if self.ahead is None else self.ahead
