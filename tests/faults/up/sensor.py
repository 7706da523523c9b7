"""A sensor for tests: a process that writes Zeek logs as JSON into a folder, and rotates them in every way there is.

Each line is unlike all others. At the end (SIGTERM) it prints what it wrote, as JSON: lines by stream, and lines that
nobody can read.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BAD_IN = 500
"""One line in so many cannot be read."""
KEPT_SECONDS = 600.0
"""Rotated files are removed after this long, as a sensor's housekeeping does."""


@dataclass
class Log:
    """One stream's current file. It is rotated by `ways`, in turn: rename, rename and gzip, copy and truncate."""

    folder: Path
    stream: str
    records: Iterator[dict[str, Any]]
    ways: Iterator[str]
    written: int = 0
    bad: int = 0
    count: Iterator[int] = field(default_factory=itertools.count)

    @property
    def path(self) -> Path:
        """The current file."""
        return self.folder / f"{self.stream}.log"

    def write(self, lines: int) -> None:
        """Appends lines in two steps, so that a reader finds the last of them cut."""
        made = [self._line() for _ in range(lines)]
        data = b"".join(made)
        half = len(data) - len(made[-1]) // 2 if made else 0
        with self.path.open("ab", buffering=0) as file:
            file.write(data[:half])
            file.write(data[half:])

    def _line(self) -> bytes:
        self.written += 1
        line = json.dumps(next(self.records)).encode()
        if self.written % BAD_IN:
            return line + b"\n"
        self.bad += 1
        return line[: len(line) // 2] + b"\xc1\n"

    def rotate(self) -> None:
        """Makes room for a new file."""
        way = next(self.ways)
        aside = self.folder / f"{self.stream}.{time.strftime('%Y-%m-%d-%H-%M-%S')}-{next(self.count)}.log"
        if way == "copytruncate":
            shutil.copyfile(self.path, aside)
            self.path.write_bytes(b"")
            return
        self.path.rename(aside)
        if way == "gzip":
            # under a hidden name until it is whole, as logrotate's successors do
            packed = aside.with_name(f".{aside.name}.gz")
            with aside.open("rb") as plain, gzip.open(packed, "wb") as file:
                shutil.copyfileobj(plain, file)
            packed.rename(aside.with_name(f"{aside.name}.gz"))
            aside.unlink()


def connections(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Connections of 40 hosts; every twentieth is a call home, a minute apart by its host's clock."""
    for number in itertools.count():
        calls = number % 20 == 0
        host = f"10.0.0.{5 if calls else chance.randrange(10, 50)}"
        there = "203.0.113.9" if calls else f"198.51.100.{chance.randrange(1, 250)}"
        yield {
            "_path": "conn",
            "ts": time.time(),
            "uid": f"C{number}",
            "id.orig_h": host,
            "id.orig_p": 1024 + number % 60_000,
            "id.resp_h": there,
            "id.resp_p": 443,
            "proto": "tcp",
            "service": "ssl",
            "duration": round(chance.random(), 3),
            "orig_bytes": 300 if calls else chance.randrange(100, 100_000),
            "resp_bytes": 900,
            "conn_state": "SF",
        }


def queries(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Queries of 40 hosts; every tenth is a tunnel's."""
    for number in itertools.count():
        tunnel = number % 10 == 0
        host = f"10.0.0.{7 if tunnel else chance.randrange(10, 50)}"
        name = f"{chance.randbytes(24).hex()}.t.example.org" if tunnel else f"www{chance.randrange(200)}.example.net"
        yield {
            "_path": "dns",
            "ts": time.time(),
            "uid": f"D{number}",
            "id.orig_h": host,
            "id.orig_p": 1024 + number % 60_000,
            "id.resp_h": "10.0.0.2",
            "id.resp_p": 53,
            "proto": "udp",
            "query": name,
            "qtype_name": "TXT" if tunnel else "A",
            "rcode_name": "NOERROR",
        }


def main(folder: Path, rate: float, rotate_seconds: float, seed: int) -> None:
    """Writes `rate` lines a second of each stream until SIGTERM."""
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    chance = random.Random(seed)
    logs = [
        Log(folder, "conn", connections(chance), itertools.cycle(["rename", "gzip", "copytruncate"])),
        Log(folder, "dns", queries(chance), itertools.cycle(["copytruncate", "rename", "gzip"])),
    ]
    begun, done = time.monotonic(), 0
    rotated = begun
    while not stop:
        time.sleep(0.1)
        due = int((time.monotonic() - begun) * rate) - done
        done += due
        for log in logs:
            log.write(due)
        if time.monotonic() - rotated >= rotate_seconds:
            rotated = time.monotonic()
            for log in logs:
                log.rotate()
            _tidy(folder)
    print(json.dumps({log.stream: [log.written, log.bad] for log in logs}))  # noqa: T201 - the test reads it


def _tidy(folder: Path) -> None:
    for path in folder.glob("*-*.log*"):
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
