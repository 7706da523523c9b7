"""One process that feeds one file: `python -m tests.faults.feed.feed_process HOME FILE`; prints its counts as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.faults.feed.feeding import feed

if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(feed(Path(sys.argv[1]), Path(sys.argv[2])))))
