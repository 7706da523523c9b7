"""A detection worker as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.service import Service
from schemas.scales import SECOND
from workers.detection.registry import create, discover, shared_out
from workers.detection.worker import DetectionWorker, WorkerOptions
from workers.runtime.child import main


def make(engine: Engine, options: Mapping[str, Any]) -> Service:
    """The worker that these options describe."""
    registry = discover(None if options["plugins"] is None else Path(options["plugins"]))
    names, _ = shared_out(registry, options["detectors"], asynchronous=False)
    detectors = create(registry, names, options["parameters"])
    chosen = WorkerOptions(
        detectors_name=options["detectors_name"],
        bounded=options["bounded"],
        replay=options["replay"],
        lateness=round(options["lateness"] * SECOND),
        silence=round(options["silence"] * SECOND),
        window_bytes=options["window_mib"] * 1024 * 1024,
        call_seconds=options["call"],
        calling=Path(options["calling"]),
        suspects=options["suspects"],
    )
    return DetectionWorker(engine.log, engine.store, detectors, chosen)


if __name__ == "__main__":
    sys.exit(main(make))
