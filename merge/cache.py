"""Summaries that a merger has at hand: bounded, and only ever trusted where the store's head agrees."""

from __future__ import annotations

from collections import OrderedDict

from merge.summary import Summary

LIMIT = 200_000
"""Current analyses (and one more per case) held in all: with analyses of about 2 KB in memory, some 400 MB at most."""


class SummaryCache:
    """The least recently used go first."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._held: OrderedDict[str, Summary] = OrderedDict()
        self._weight = 0

    def get(self, case: str) -> Summary | None:
        """The summary that was put last, or None."""
        found = self._held.get(case)
        if found is not None:
            self._held.move_to_end(case)
        return found

    def put(self, case: str, summary: Summary) -> None:
        """Keeps it, and lets others go where there is no room. One that is larger than all room is not kept."""
        self.drop(case)
        self._held[case] = summary
        self._weight += _weight(summary)
        while self._weight > self._limit:
            _, gone = self._held.popitem(last=False)
            self._weight -= _weight(gone)

    def drop(self, case: str) -> None:
        """Forgets the case."""
        gone = self._held.pop(case, None)
        if gone is not None:
            self._weight -= _weight(gone)

    def clear(self) -> None:
        """Forgets all."""
        self._held.clear()
        self._weight = 0


def _weight(summary: Summary) -> int:
    return 1 + len(summary.current)
