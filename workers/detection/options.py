"""How a worker works."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path

from schemas.scales import HOUR
from workers.detection.calling import Call
from workers.detection.guard import CALL_SECONDS
from workers.detection.plugin import Detector


def shipped(detector: Detector) -> bool:
    """Whether the detector is one of casetape's own, which edits no observation."""
    return type(detector).__module__.startswith("workers.")


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker works. Times in microseconds of event time, except where it says seconds.

    `replay`: the name of a replay, in which all detectors start once more from the oldest record kept.
    `bounded`: a run over input that ends: nothing is late, windows are concluded by `drain`. `window_bytes`: memory for
    the rows of all windows; beyond it they are spilled. `snapshot_records`: a snapshot is made after this many records,
    or as many as its windows hold if that is more (so that writing them stays linear), but at most `snapshot_most`; in
    a live run also after `snapshot_seconds`, or `idle_seconds` where nothing comes. `trusted` detectors see the
    observations themselves, others get copies. `calling`: where calls into plug-ins are noted while they last;
    `suspects`: those not to be made, which may grow.
    """

    detectors_name: str
    bounded: bool = False
    lateness: int = HOUR
    silence: int = HOUR
    window_bytes: int = 256 * 1024 * 1024
    snapshot_records: int = 100_000
    snapshot_most: int = 500_000
    snapshot_seconds: float = 30.0
    idle_seconds: float = 5.0
    call_seconds: float = CALL_SECONDS
    replay: str | None = None
    secret: bytes | None = None
    trusted: Callable[[Detector], bool] = shipped
    calling: Path | None = None
    suspects: Container[Call] = frozenset()
