"""A home folder with the embedded engine, feeds into it by this and by other processes, and what lies on its tape."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.failpoints import VARIABLE
from engines.log import LogRecord, TopicPartition
from engines.sqlite import open_engine
from engines.topics import ALL, OBSERVATIONS
from schemas.observation import Observation
from workers.feed.feeder import Feeder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.quarantine import Listed, listing

ROOT = Path(__file__).parents[3]
NOW = 1_600_000_000_000_000
PARTITIONS = 4


def clock() -> int:
    """September 2020, in microseconds."""
    return NOW


@contextmanager
def engine(home: Path) -> Iterator[Engine]:
    """The engine of the home with all topics."""
    opened = open_engine(home)
    try:
        for topic in ALL:
            opened.log.create_topic(topic, PARTITIONS)
        yield opened
    finally:
        opened.close()


def conn(number: int, **fields: Any) -> bytes:
    """A connection's line; other numbers give other lines."""
    record = {"_path": "conn", "ts": 1588205199 + number, "uid": f"C{number}", "id.orig_h": f"10.0.0.{number % 50}"}
    return json.dumps({**record, **fields}).encode() + b"\n"


def feed(home: Path, path: Path, options: FeedOptions | None = None) -> FeedCounts:
    """Feeds a file, and checks that the counts close."""
    with engine(home) as opened:
        counts = Feeder(opened.log, opened.store, options or FeedOptions(), clock).feed_path(path)
    assert counts.closes
    return counts


def start(home: Path, path: Path, fail_at: str | None = None) -> subprocess.Popen[bytes]:
    """Starts a process that feeds the file and prints its counts; `fail_at` names where it dies."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **({VARIABLE: fail_at} if fail_at else {})}
    command = [sys.executable, "-m", "tests.faults.feed.feed_process", str(home), str(path)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)


def records(opened: Engine, topic: str) -> list[LogRecord]:
    """All records of a topic."""
    found: list[LogRecord] = []
    for partition, end in opened.log.end_offsets(topic).items():
        at = 0
        while at < end:
            some = opened.log.read(TopicPartition(topic, partition), at, 1000)
            found += some
            at = some[-1].offset + 1
    return found


def tape(home: Path) -> list[Observation]:
    """All observations on the tape, each proved by its id, repeats included."""
    with engine(home) as opened:
        return [Observation.parse(one.value).proven() for one in records(opened, OBSERVATIONS)]


def quarantine(home: Path, tenant: str | None = None) -> list[Listed]:
    """What the list of the quarantine says."""
    with engine(home) as opened:
        return list(listing(opened.log, opened.store, tenant))


def notes(home: Path, prefix: str = "ledger/") -> dict[str, bytes]:
    """The store's notes."""
    with engine(home) as opened:
        return dict(opened.store.notes(prefix))
