"""How many rows of each key lie in the newest part of each open window: what early words are decided by."""

from __future__ import annotations

import numpy as np

from workers.detection.groups import Group, Name
from workers.detection.windowed import WindowedDetector


class Tally:
    """The counts of one detector on one partition, by case, end of the window and key: about 100 bytes a key and part,
    for as long as the window is open. Times in microseconds."""

    def __init__(self, detector: WindowedDetector) -> None:
        self._every = detector.window.every
        self._early = frozenset(detector.early)
        self._cases: dict[str, dict[int, dict[str, int]]] = {}

    def __len__(self) -> int:
        return sum(len(keys) for ends in self._cases.values() for keys in ends.values())

    def add(self, name: Name, at: int, closed: int) -> int | None:
        """Counts a row of this event time, unless its window has closed (its end is not after `closed`). Returns the
        end of the window if it has now reached one of the detector's counts."""
        end = at // self._every * self._every + self._every
        if end <= closed:
            return None
        keys = self._cases.setdefault(name[0], {}).setdefault(end, {})
        count = keys[name[1]] = keys.get(name[1], 0) + 1
        return end if count in self._early else None

    def put(self, group: Group, closed: int) -> None:
        """Takes over all rows of a name."""
        ends, counts = np.unique(group.at // self._every * self._every + self._every, return_counts=True)
        for end, count in zip(ends.tolist(), counts.tolist(), strict=True):
            if end > closed:
                self._cases.setdefault(group.name[0], {}).setdefault(end, {})[group.name[1]] = count

    def close(self, case: str, closed: int) -> None:
        """Forgets a case's windows that have closed."""
        ends = self._cases.get(case, {})
        for end in [end for end in ends if end <= closed]:
            del ends[end]
        if not ends:
            self._cases.pop(case, None)
