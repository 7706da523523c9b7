"""What an `up` and its services take while they live: memory, file handles, disk."""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.faults.up.house import House

_RSS = re.compile(r"VmRSS:\s+(\d+) kB")


class Sample(NamedTuple):
    """At `at` seconds since the beginning: by service (kind and process) MiB of memory and open handles; bytes of the
    files of the home."""

    at: float
    memory: dict[str, float]
    handles: dict[str, int]
    disk: int


@dataclass
class Measures:
    """Samples over time."""

    samples: list[Sample] = field(default_factory=list)

    def take(self, at: float, house: House) -> None:
        """One more; of processes that die meanwhile there is nothing to say."""
        memory, handles = {}, {}
        for name, pid in {"up": house.process.pid, **house.services()}.items():
            try:
                found = _RSS.search(Path(f"/proc/{pid}/status").read_text())
                open_ones = len(os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                continue
            if found is not None:
                memory[name] = int(found[1]) / 1024
                handles[name] = open_ones
        self.samples.append(Sample(at, memory, handles, sum(one.stat().st_size for one in house.home.iterdir())))

    def third(self, number: int) -> list[Sample]:
        """The samples of one third of the time: 0, 1 or 2."""
        last = self.samples[-1].at
        return [one for one in self.samples if number * last / 3 <= one.at <= (number + 1) * last / 3]

    def memory(self, number: int) -> dict[str, float]:
        """By kind of service: the median MiB in a third."""
        return _medians(one.memory for one in self.third(number))

    def handles(self, number: int) -> dict[str, float]:
        """By kind of service: the median of open handles in a third."""
        return _medians(one.handles for one in self.third(number))

    def disk(self, number: int) -> int:
        """The largest size of the home in a third, bytes."""
        return max(one.disk for one in self.third(number))


def _medians(samples: Iterable[dict[str, float]] | Iterable[dict[str, int]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, value in sample.items():
            values.setdefault(name.split()[0], []).append(value)
    return {kind: statistics.median(found) for kind, found in values.items()}
