"""What a worker knows of one partition: the seen filter, the clocks of its cases, the windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engines.failpoints import fail_point
from engines.log import TopicPartition
from engines.store import Manifest, StateStore
from schemas.errors import Fenced
from schemas.scales import DAY, LIMIT
from workers.detection.seen import SeenFilter
from workers.detection.snapshot import (
    Cases,
    Clock,
    Counts,
    DetectorEntry,
    Early,
    Said,
    counts_of,
    owner_of,
    pack_cases,
    packed,
)
from workers.detection.standing import Standings, of_cases
from workers.detection.window import SLACK, WindowState

__all__ = ["HORIZON", "Counts", "Partition", "Terms", "counts_of", "owner_of"]

HORIZON = 7 * DAY
"""Ids and silent cases are remembered for this long by the log's own time: as long as observations are kept."""


class Terms(NamedTuple):
    """How a partition is kept: bytes of memory for the rows of one window, the lateness in microseconds, and the
    worker's sign of life during long work."""

    limit: int
    lateness: int
    beat: Callable[[], None]


@dataclass(slots=True)
class Partition:
    """One partition as its owner of this generation sees it. `offset`: the next record to look at. `heard`: the log's
    time of the newest record, microseconds. `early`: what was said provisionally and is not settled yet; `standings`:
    what stands of each fingerprint. `concluded`: the offset up to which a drain has concluded everything. `counted`:
    the offset up to which records were counted before a replay began again: those are looked at and not counted.
    `touched`: whether there is something to save though no record was read."""

    store: StateStore
    owner: str
    at: TopicPartition
    generation: int
    seen: SeenFilter
    terms: Terms
    windows: list[WindowState] = field(default_factory=list)
    clocks: dict[str, Clock] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    early: dict[Early, Said] = field(default_factory=dict)
    standings: Standings = field(default_factory=dict)
    offset: int = 0
    saved: int = 0
    heard: int = 0
    concluded: int = 0
    detectors: Sequence[DetectorEntry] = ()
    counted: int = 0
    replay: str | None = None
    touched: bool = False
    manifest: Manifest | None = None
    cases: str | None = None
    _parts: int = 0
    _tidy: tuple[int, int] = (0, 0)

    def save(self, *, prune: bool = False) -> None:
        """Makes all of it durable; with `prune` it drops before what is past: rows that no window can need again, and
        ids beyond the horizon. Raises Fenced where a later owner has taken the partition over."""
        used = self._needed()
        for window in self.windows:
            used.update(self._put(window.save()))
        if prune:
            used.update(self._prune())
        sealed, replaced = self.seen.seal(self.name())
        used.update(segment.name for segment in replaced)
        if sealed is not None:
            self._put([(sealed.name, sealed.ids or b"")])
            sealed.ids = None
        cases = self.name()
        self._put([(cases, pack_cases(Cases(self.clocks, self.early, self.standings)))])
        fail_point("worker.parts")
        self.cases = cases
        self.move()
        fail_point("worker.snapshot")
        self.store.drop_parts(self.owner, sorted(used - self._needed()))

    def silent(self) -> list[str]:
        """The cases of which the log has had nothing for the whole horizon."""
        limit = self.heard - HORIZON
        return [case for case, clock in self.clocks.items() if clock.heard < limit]

    def forget(self, cases: Iterable[str]) -> None:
        """Forgets these cases; with the next pruning their rows go too."""
        for case in cases:
            del self.clocks[case]
        self.early = {early: said for early, said in self.early.items() if early[1] in self.clocks}
        self.standings = of_cases(self.standings, self.clocks)

    def overgrown(self) -> bool:
        """Whether it has grown so much since it was pruned that this is worth its price again."""
        rows, cases = self._tidy
        return self._rows() > 2 * rows + SLACK or len(self.clocks) > 2 * cases + SLACK // 10

    def closed(self, case: str) -> int:
        """The event time (microseconds) up to whose windows a case's are closed."""
        clock = self.clocks.get(case)
        return LIMIT if clock is None else clock.at - self.terms.lateness

    def floor_of(self, window: WindowState, newest: Callable[[Clock], int]) -> Callable[[str], int]:
        """By case: the event time below which the window can need no row, given the case's newest time."""
        reach = 2 * window.detector.window.length + self.terms.lateness

        def floor(case: str) -> int:
            clock = self.clocks.get(case)
            return LIMIT if clock is None else newest(clock) - reach

        return floor

    def move(self) -> None:
        """Moves the manifest to what it holds, all of whose parts are stored. Raises Fenced."""
        body = packed(
            self.windows,
            self.seen.segments,
            self.counts,
            cases=self.cases,
            heard=self.heard,
            concluded=self.concluded,
            detectors=self.detectors,
            counted=self.counted,
            replay=self.replay,
        )
        new = Manifest(self.generation, self.offset, body)
        if not self.store.move_manifest(self.owner, self.manifest, new):
            raise Fenced(f"{self.at.topic}[{self.at.partition}] was taken over by a later owner")
        self.manifest, self.saved, self.touched = new, self.offset, False

    def drop_strays(self) -> None:
        """Forgets parts that no manifest names: those of a snapshot that was never finished."""
        needed = self._needed()
        self.store.drop_parts(self.owner, [part for part in self.store.parts(self.owner) if part not in needed])

    def name(self) -> str:
        """A name that no part of any owner has had."""
        self._parts += 1
        return f"{self.generation}-{self._parts}"

    def _prune(self) -> set[str]:
        put: set[str] = set()
        for window in self.windows:
            put.update(self._put(window.prune(self.floor_of(window, lambda clock: clock.at))))
        reaches = {window.detector.name: self.floor_of(window, lambda clock: clock.at) for window in self.windows}
        self.early = {
            early: said
            for early, said in self.early.items()
            if early[0] in reaches and early[3] > reaches[early[0]](early[1])
        }
        for clock in self.clocks.values():
            clock.pruned = clock.at
        self._tidy = self._rows(), len(self.clocks)
        return put.union(segment.name for segment in self.seen.forget(self.heard - HORIZON))

    def _rows(self) -> int:
        return sum(window.rows() for window in self.windows)

    def _put(self, parts: Iterable[tuple[str, bytes]]) -> list[str]:
        put = []
        for name, body in parts:
            self.store.put_part(self.owner, name, body)
            put.append(name)
            self.terms.beat()
        return put

    def _needed(self) -> set[str]:
        parts = {part for window in self.windows for part in window.parts()}
        parts.update(segment.name for segment in self.seen.segments)
        return parts if self.cases is None else parts | {self.cases}
