"""A follower over a folder of its own, with time that only passes when a test says so."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engines.engine import Engine
from engines.topics import OBSERVATIONS
from schemas.observation import Observation
from tests.faults.feed.feeding import clock, engine, records
from workers.feed.feeder import Feeder
from workers.feed.follow import Follower, FollowOptions
from workers.feed.options import FeedCounts, FeedOptions

LONG = 11.0
"""Seconds after which what was rotated away is over, and a gzip file or a copy is complete."""


@dataclass
class Rig:
    """A folder `logs`, a tape, and a follower of `paths` (the folder itself by default)."""

    home: Path
    logs: Path
    opened: Engine
    paths: list[Path]
    options: FeedOptions = field(default_factory=FeedOptions)
    follow: FollowOptions = field(default_factory=FollowOptions)
    said: list[str] = field(default_factory=list)
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """A new follower, which knows only what the ledger knows."""
        feeder = Feeder(self.opened.log, self.opened.store, self.options, clock)
        self.follower = Follower(feeder, self.paths, self.said.append, self.follow, monotonic=lambda: self.now)

    def look(self, seconds: float = 1.0) -> FeedCounts:
        """Time passes, the follower looks, and reads until there is nothing more; what it counted."""
        self.now += seconds
        before = self.follower.counts
        while self.follower.step():
            assert self.follower.counts.closes
        after = self.follower.counts
        assert after.closes
        return FeedCounts(
            after.read - before.read,
            after.appended - before.appended,
            after.already_fed - before.already_fed,
            after.quarantined - before.quarantined,
        )

    def stop(self) -> FeedCounts:
        """Ends it; all it has counted."""
        self.follower.close()
        return self.follower.counts

    def write(self, name: str, *lines: bytes) -> Path:
        """Appends to a log in the folder."""
        path = self.logs / name
        with path.open("ab") as log:
            log.write(b"".join(lines))
        return path

    def tape(self) -> list[str]:
        """The `uid` of each observation on the tape (of a text: the text), repeats included, sorted."""
        return sorted(one.data["uid"] if one.data is not None else str(one.text) for one in self._observations())

    def _observations(self) -> Iterator[Observation]:
        return (Observation.parse(one.value).proven() for one in records(self.opened, OBSERVATIONS))

    def in_order(self) -> list[str]:
        """The `uid` of each, as they lie on the tape; of one subject."""
        return [str(one.data["uid"]) for one in self._observations() if one.data is not None]

    def times_in_order(self) -> list[int]:
        """The event time of each, as they lie on the tape; of one subject."""
        return [one.at for one in self._observations() if one.at is not None]

    def open_names(self) -> list[str]:
        """Which of the logs this process has open."""
        held = (os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))
        return [path for path in held if path.startswith(str(self.logs))]

    def open_files(self) -> int:
        """How many of them."""
        return len(self.open_names())


@contextmanager
def rig(
    tmp_path: Path, *names: str, options: FeedOptions | None = None, follow: FollowOptions | None = None
) -> Iterator[Rig]:
    """A rig that follows these names inside of `logs`, or the folder."""
    home, logs = tmp_path / "home", tmp_path / "logs"
    logs.mkdir(exist_ok=True)
    with engine(home) as opened:
        paths = [logs / name for name in names] or [logs]
        made = Rig(home, logs, opened, paths, options or FeedOptions(), follow or FollowOptions())
        try:
            yield made
        finally:
            made.follower.close()


def pack(path: Path, *, old: bool = False) -> Path:
    """What `gzip` does with a file; with `old` one that was last written long ago, as the packed one then says too."""
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    if old:
        os.utime(packed, (1.5e9, 1.5e9))
    path.unlink()
    return packed


def uids(*numbers: int) -> list[str]:
    """The uids of `conn(number)`."""
    return sorted(f"C{number}" for number in numbers)
