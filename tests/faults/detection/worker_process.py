"""A worker in a process of its own that makes a snapshot every few hundred records, and one that misbehaves as told."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from engines.engine import Engine
from engines.service import Service
from schemas.errors import StorageFull
from schemas.observation import Observation
from tests.faults.detection.detectors import Early, Limits, Threshold
from workers.detection.plugin import Answer, Detector, Finding
from workers.detection.worker import DetectionWorker, WorkerOptions
from workers.detectors.beaconing import Beaconing
from workers.runtime import host
from workers.runtime.child import main

host.POLL_RECORDS = 200


class Names(Detector):
    """Says something of every name that was asked for."""

    name = "names"
    kinds = ("zeek.dns",)

    def detect(self, observation: Observation) -> Answer:
        """One fingerprint a name."""
        query = (observation.data or {}).get("query")
        return Finding("unknown", 0.1, fingerprint=f"name {query}", title="name") if query else None


class Failing(Detector):
    """Fails on some records."""

    name = "failing"
    kinds = ("zeek.conn",)
    spoke = False

    def detect(self, observation: Observation) -> Answer:
        """Fails where the record says so by chance; and prints and reads, which must reach nobody."""
        if not self.spoke:
            self.spoke = True
            print("a plug-in that prints, and reads", repr(sys.stdin.read()))  # noqa: T201 - the mistake under test
        if str((observation.data or {}).get("uid")).endswith(("a", "b")):
            raise ValueError("by chance")
        return None


def make(engine: Engine, options: Mapping[str, Any]) -> Service:
    """The worker that these options describe."""
    if options.get("ends") == "full":
        raise StorageFull("there is no room left, says the test")
    if options.get("ends") == "dies":
        os._exit(9)
    few = Limits(threshold=3)
    detectors = [Beaconing(), Threshold(few), Early(few), Names(), Failing()]
    bounded = not options.get("live")
    chosen = WorkerOptions("default", bounded=bounded, snapshot_records=150, snapshot_most=150)
    return DetectionWorker(engine.log, engine.store, detectors, chosen)


if __name__ == "__main__":
    sys.exit(main(make))
