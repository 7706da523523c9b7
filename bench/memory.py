"""`python -m bench.memory [RECORDS]`: the memory of one worker whose windows may take 16 MiB, for a log and for one ten
times as long: bounded by that, by 8 bytes an id that it has seen, and by the ids since the last snapshot (about 100
bytes each, at most 500,000 of them)."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import traffic
from casetape.run import now
from engines import topics
from engines.sqlite import open_engine
from workers.detection.registry import create, discover
from workers.detection.worker import DetectionWorker, WorkerOptions
from workers.feed.feeder import Feeder
from workers.feed.options import FeedOptions
from workers.runtime.host import serve

RECORDS = 100_000
WINDOW_MIB = 16


class _UntilDrained:
    """Orders of a host that has nobody else: stop when everything is concluded."""

    def __init__(self, ends: dict[int, int]) -> None:
        self.worker: DetectionWorker | None = None
        self._ends = ends
        self._done = False

    def until(self) -> dict[int, int]:
        """Where the input ends."""
        return self._ends

    def stopped(self) -> bool:
        """Whether all of it was concluded: also once the worker has let its partitions go."""
        owned = {} if self.worker is None else self.worker.owned
        done = {at.partition: one.concluded for at, one in owned.items()}
        self._done = self._done or all(done.get(partition, 0) >= end for partition, end in self._ends.items())
        return self._done


def work(home: Path) -> None:
    """In a process of its own: works off what is on the tape, and prints its greatest memory in MiB."""
    with open_engine(home) as engine:
        orders = _UntilDrained(dict(engine.log.end_offsets(topics.OBSERVATIONS)))
        options = WorkerOptions("bench", bounded=True, window_bytes=WINDOW_MIB * 1024 * 1024)
        orders.worker = DetectionWorker(engine.log, engine.store, create(discover(), None, {}), options)
        serve(engine.log, orders.worker, orders)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main() -> None:
    """Prints the figures."""
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]))
        return
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    for count in (1_000, records, 10 * records):
        with tempfile.TemporaryDirectory(prefix="casetape-bench-") as folder:
            log, home = Path(folder) / "conn.log", Path(folder) / "home"
            traffic.write(log, count)
            with open_engine(home) as engine:
                for topic in topics.ALL:
                    engine.log.create_topic(topic, topics.DEFAULT_PARTITIONS)
                Feeder(engine.log, engine.store, FeedOptions(), now).feed_path(log)
            command = [sys.executable, "-m", "bench.memory", "--work", str(home)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"{count:>10,} records: {done.stdout.strip()} MiB at most", flush=True)


if __name__ == "__main__":
    main()
