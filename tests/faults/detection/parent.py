"""A parent with two children, for tests that kill it: `HOME`. Prints their process ids, then looks after them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.faults.detection.pipeline import Pipeline

if __name__ == "__main__":
    pipeline = Pipeline(Path(sys.argv[1])).fed()
    for number in range(2):
        pipeline.supervisor.start(f"worker {number + 1}", "tests.faults.detection.worker_process", pipeline.options())
    print(json.dumps(list(pipeline.supervisor.pids().values())), flush=True)  # noqa: T201 - the test reads it
    while True:
        pipeline.supervisor.look_after()
        time.sleep(0.02)
