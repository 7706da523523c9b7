"""The seen filter: has this observation been consumed before? Exact, since a false yes would lose evidence.

Ids consumed since the last snapshot are a set. Older ones are sorted segments: of each id the first 8 bytes are kept in
memory (8 bytes an id: that is the filter's size), the whole ids lie in the store, and are read only to settle a hit.
Segments of like size are merged, so that there are O(log n) of them and writing them costs O(n log n) altogether; but
not across more than a day, so that old ones can be forgotten.

Ids are remembered by the log's own time: what is delivered or fed twice comes twice within days, however old it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from schemas.scales import DAY

ID_BYTES = 32
_GROWTH = 4
"""A segment is merged into the one before it unless that one is this many times larger."""

_MOST = 2_000_000
"""A segment is not merged beyond so many ids (64 MB): whole ones are held in memory to be merged or looked into."""

_APART = DAY
"""A segment that ended so long ago is left as it is: merged, it would be remembered for as long as the new one."""

_LOADED = 2
"""So many segments' whole ids are held at a time."""

Load = Callable[[str], bytes]
"""Reads a segment's ids by its name."""


@dataclass(slots=True, eq=False)
class Segment:
    """Sorted ids: `prefixes` their first 8 bytes (big-endian), `newest` the log's time of the newest among them,
    microseconds. `ids` is the concatenation of the whole ids; None while it lies in the store only."""

    name: str
    prefixes: npt.NDArray[np.uint64]
    newest: int
    ids: bytes | None


@dataclass(slots=True)
class SeenFilter:
    """The ids consumed on one partition within the horizon."""

    load: Load
    segments: list[Segment] = field(default_factory=list)
    fresh: set[bytes] = field(default_factory=set)
    newest: int = 0
    loaded: list[Segment] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.fresh) + sum(len(segment.prefixes) for segment in self.segments)

    def new(self, ids: Sequence[bytes]) -> list[bool]:
        """For each id (32 bytes), in order: whether it is met for the first time; it is known from then on."""
        old = self._in_segments(ids) if self.segments else None
        answers = []
        fresh = self.fresh
        for index, one in enumerate(ids):
            first = one not in fresh and (old is None or not old[index])
            if first:
                fresh.add(one)
            answers.append(first)
        return answers

    def saw(self, at: int) -> None:
        """Notes the log's time of a record (microseconds), which decides when its segment leaves the horizon."""
        self.newest = max(self.newest, at)

    def seal(self, name: str) -> tuple[Segment | None, list[Segment]]:
        """Turns what is fresh into a segment called `name`, merged with its like. Returns the segment to store (None
        where nothing was fresh) and those it replaces."""
        if not self.fresh:
            return None, []
        replaced: list[Segment] = []
        ids, newest = b"".join(self.fresh), self.newest
        while self.segments and self._alike(self.segments[-1], len(ids) // ID_BYTES):
            last = self.segments.pop()
            ids += self._ids(last)
            newest = max(newest, last.newest)
            replaced.append(last)
        self.loaded = [segment for segment in self.loaded if segment not in replaced]
        made = _segment(name, ids, newest)
        self.segments.append(made)
        self.fresh = set()
        self.newest = 0
        return made, replaced

    def forget(self, before: int) -> list[Segment]:
        """Drops the segments all of whose records the log took before this (microseconds), and returns them."""
        gone = [segment for segment in self.segments if segment.newest < before]
        self.segments = [segment for segment in self.segments if segment.newest >= before]
        return gone

    def _alike(self, segment: Segment, count: int) -> bool:
        held = len(segment.prefixes)
        return held < _GROWTH * count and held + count <= _MOST and segment.newest > self.newest - _APART

    def _in_segments(self, ids: Sequence[bytes]) -> npt.NDArray[np.bool_]:
        wanted = _prefixes(b"".join(ids))
        known = np.zeros(len(ids), dtype=np.bool_)
        for segment in self.segments:
            places = np.searchsorted(segment.prefixes, wanted)
            hits = segment.prefixes[np.minimum(places, len(segment.prefixes) - 1)] == wanted
            for index in np.flatnonzero(hits & ~known).tolist():
                known[index] = self._settle(segment, int(places[index]), ids[index])
        return known

    def _settle(self, segment: Segment, place: int, one: bytes) -> bool:
        """Whether the whole id is in the segment, whose prefix is at `place` (and maybe after it)."""
        ids = self._ids(segment)
        while ids[place * ID_BYTES : place * ID_BYTES + 8] == one[:8]:
            if ids[place * ID_BYTES : (place + 1) * ID_BYTES] == one:
                return True
            place += 1
        return False

    def _ids(self, segment: Segment) -> bytes:
        if segment.ids is None:
            segment.ids = self.load(segment.name)
            self.loaded.append(segment)
            if len(self.loaded) > _LOADED:
                self.loaded.pop(0).ids = None
        return segment.ids


def stored(name: str, ids: bytes, newest: int) -> Segment:
    """The segment whose sorted ids were read from the store."""
    return Segment(name, _prefixes(ids), newest, None)


def _segment(name: str, ids: bytes, newest: int) -> Segment:
    ordered = np.sort(np.frombuffer(ids, dtype=f"S{ID_BYTES}")).tobytes()
    return Segment(name, _prefixes(ordered), newest, ordered)


def _prefixes(ids: bytes) -> npt.NDArray[np.uint64]:
    return np.frombuffer(ids, dtype=">u8").reshape(-1, ID_BYTES // 8)[:, 0].astype(np.uint64)
