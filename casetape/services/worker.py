"""A detection worker as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from casetape.services.options import DETECTORS_NAME
from engines.engine import Engine
from engines.service import Service
from schemas.scales import SECOND
from workers.detection.registry import create, discover
from workers.detection.worker import DetectionWorker, WorkerOptions
from workers.runtime.child import main


def make(engine: Engine, options: Mapping[str, Any]) -> Service:
    """The worker that these options describe."""
    registry = discover(None if options["plugins"] is None else Path(options["plugins"]))
    detectors = create(registry, options["detectors"], options["parameters"])
    chosen = WorkerOptions(
        detectors_name=DETECTORS_NAME,
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
