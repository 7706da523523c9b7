"""`python -m bench.following [FILES]`: what following a folder of files that do not change costs, and at what rate a
backlog is read, against a feed of the same lines."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import traffic
from casetape.run import now
from engines import topics
from engines.engine import Engine
from engines.sqlite import open_engine
from workers.feed.feeder import Feeder
from workers.feed.follow import Follower
from workers.feed.options import FeedOptions

FILES = 1_000
RECORDS = 200_000
LOOKS = 50


class _Time:
    """A clock that only goes on when it is told to, so that every step looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def idle(folder: Path, files: int) -> None:
    """Prints the processor time of a look at so many files."""
    logs = folder / "logs"
    logs.mkdir()
    for number in range(files):
        (logs / f"conn.{number}.log").write_text(f'{{"_path":"conn","ts":{1588205199 + number},"uid":"C{number}"}}\n')
    with _engine(folder / "home") as engine:
        clock = _Time()
        follower = _follower(engine, logs, clock)
        while follower.step():
            pass
        started = time.process_time()
        for _ in range(LOOKS):
            clock.now += 1.0
            follower.step()
        spent = (time.process_time() - started) / LOOKS
        follower.close()
    print(f"{files:>10,} idle files: {spent * 1e3:.1f} ms a look, {spent:.1%} of a processor at one a second")


def backlog(folder: Path, records: int) -> None:
    """Prints the rate of a feed, and of a follower that has the same to read."""
    log = folder / "conn.log"
    traffic.write(log, records)
    rates = []
    for name in ("feed", "follow"):
        with _engine(folder / name) as engine:
            started = time.perf_counter()
            if name == "feed":
                counts = Feeder(engine.log, engine.store, FeedOptions(), now).feed_path(log)
            else:
                follower = _follower(engine, log, time.monotonic)
                while follower.step():
                    pass
                follower.close()
                counts = follower.counts
            if counts.appended != records:
                raise SystemExit(f"{name}: {counts} of {records} records")
            rates.append(records / (time.perf_counter() - started))
    fed, followed = rates
    print(f"{records:>10,} records: feed {fed:,.0f}/s, follow {followed:,.0f}/s ({followed / fed:.2f})")


def _follower(engine: Engine, path: Path, clock: Callable[[], float]) -> Follower:
    return Follower(Feeder(engine.log, engine.store, FeedOptions(), now), [path], print, monotonic=clock)


def _engine(home: Path) -> Engine:
    engine = open_engine(home)
    for topic in topics.ALL:
        engine.log.create_topic(topic, topics.DEFAULT_PARTITIONS)
    return engine


def main() -> None:
    """Prints the figures."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    for count in (files, 10 * files):
        with tempfile.TemporaryDirectory(prefix="casetape-bench-") as folder:
            idle(Path(folder), count)
    with tempfile.TemporaryDirectory(prefix="casetape-bench-") as folder:
        backlog(Path(folder), RECORDS)


if __name__ == "__main__":
    main()
