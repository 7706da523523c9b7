"""What stands of a fingerprint: the words of a case's newest windows on it that were not taken back. A later window's
early word takes the place of an earlier one's; when it is taken back, the earlier must stand again. Pure."""

from __future__ import annotations

from collections.abc import Container

import msgspec

from schemas.analysis import Analysis

Place = tuple[str, str, str]
"""Detector, case key, fingerprint."""
KEPT = 4
"""Windows overlap: the words of so many are remembered, since each may be taken back by itself."""


class Standing(msgspec.Struct, array_like=True):
    """`words`: analyses (JSON), each with its window's end in microseconds, in ascending order. `over`: the greatest
    event time (microseconds) under which something was taken back or said again: what is to count must be as new."""

    words: list[tuple[int, bytes]] = []
    over: int | None = None

    def say(self, end: int, said: Analysis) -> Analysis | None:
        """Takes in a window's word. Returns it under a newer time where it would otherwise not count."""
        body = said.model_dump_json(by_alias=True).encode()
        self.words = sorted([*(one for one in self.words if one[0] != end), (end, body)])[-KEPT:]
        return self._again() if self.words[-1][0] == end else None

    def take_back(self, end: int, at: int) -> Analysis | int:
        """Takes back a window's word; `at` is the newest event time it may have had. Returns the word that stands again
        under a time as new; or, where none does, the time to say so under."""
        self.words = [one for one in self.words if one[0] != end]
        self.over = at if self.over is None else max(self.over, at)
        return self._again() or self.over

    def _again(self) -> Analysis | None:
        if not self.words or self.over is None:
            return None
        newest = Analysis.model_validate_json(self.words[-1][1])
        if newest.at is not None and newest.at > self.over:
            return None
        return newest.model_copy(update={"at": self.over})


Standings = dict[Place, Standing]


def of_cases(standings: Standings, cases: Container[str]) -> Standings:
    """Those of these cases."""
    return {place: one for place, one in standings.items() if place[1] in cases}
