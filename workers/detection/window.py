"""The window of one detector on one partition: rows in memory and in the store, and when they are concluded.

Live, a case's window ending at E is concluded by the first of the case's own records whose event time reaches
E + lateness: by nothing else, so that batches, other cases and restarts make no difference. In a bounded run all
windows are concluded once, when the input is drained. A detector that asks for early words is asked before that as
well, whenever the newest part of a window reaches one of its counts (docs/decisions/005).
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import numpy as np

from workers.detection.blocks import Block, blocks, decoded, saved_blocks
from workers.detection.groups import Group, Name, merged
from workers.detection.rows import Table
from workers.detection.tally import Tally
from workers.detection.windowed import Rows, Span, WindowedDetector

GARBAGE = 2
"""The runs are rewritten when they hold this many times more rows than are alive."""
SLACK = 1_000
"""So many rows are never worth tidying up."""
_SMALL = 100_000
_ALIKE, _MANY = 8, 8
"""So many small runs of like size (within this factor) are written as one: a window has few runs, each row is written
few times."""


class Run(msgspec.Struct, array_like=True):
    """Rows in the store, sorted by name, in blocks called `<name>.<index>`; `firsts` are the blocks' first names."""

    name: str
    rows: int
    firsts: list[Name]

    def parts(self) -> list[str]:
        """The names of its blocks."""
        return [f"{self.name}.{index}" for index in range(len(self.firsts))]

    def parts_of(self, case: str) -> list[str]:
        """The blocks in which the case may have rows."""
        first = bisect_left(self.firsts, case, key=_case)
        return self.parts()[max(0, first - 1) : bisect_right(self.firsts, case, key=_case)]

    def parts_with(self, name: Name) -> list[str]:
        """The blocks in which the name may have rows."""
        first = bisect_left(self.firsts, name)
        return self.parts()[max(0, first - 1) : bisect_right(self.firsts, name)]


class Load(NamedTuple):
    """How a window reads and names its parts in the store, and the worker's sign of life during long work."""

    read: Callable[[str], bytes]
    name: Callable[[], str]
    beat: Callable[[], None] = lambda: None


class Due(NamedTuple):
    """A key's window to conclude, with the rows in it and their origin."""

    group: Group
    span: Span

    @property
    def rows(self) -> Rows:
        """What the detector gets to see, and cannot change."""
        for one in (self.group.at, self.group.numbers):
            one.flags.writeable = False
        return Rows(self.group.at, self.group.numbers, self.group.labels)


@dataclass(slots=True)
class WindowState:
    """One detector's rows on one partition. `resident`: the runs' rows are in memory too. `concluded`: the log offset
    up to which a drain has concluded everything. `limit`: bytes of memory for its rows. `tally`: the counts for early
    words, of a live run whose detector asks for them."""

    detector: WindowedDetector
    load: Load
    limit: int
    table: Table = field(init=False)
    runs: list[Run] = field(default_factory=list)
    resident: bool = True
    concluded: int = 0
    tally: Tally | None = None

    def __post_init__(self) -> None:
        self.table = Table(len(self.detector.columns))

    def boundary(self, at: int) -> int:
        """The latest end of a window at or before this event time (microseconds)."""
        every = self.detector.window.every
        return at // every * every

    def closing(self, case: str, before: int, after: int) -> Iterator[Due]:
        """What is due for a case whose lateness limit (clock - lateness) moved from `before` to `after`."""
        since, until = self.boundary(before), self.boundary(after)
        if since != until:
            for group in self._groups(case):
                yield from self._due(group, self._ends(group, since, until))

    def open_of(self, case: str, closed: int) -> Iterator[Due]:
        """The windows of a case that are still open at this lateness limit: for a source that has fallen silent."""
        for group in self._groups(case):
            yield from self._due(group, self._ends(group, self.boundary(closed), None))

    def drained(self) -> Iterator[Due]:
        """What is due when a bounded run's input has been read to its end: every window that has new rows in it."""
        for group in self._groups(None):
            self.load.beat()
            fresh = group.at[group.offset >= self.concluded]
            if len(fresh):
                for due in self._due(group, self._ends(group, self.boundary(int(fresh[0])), None)):
                    if (due.group.offset >= self.concluded).any():
                        yield due

    def watch(self, closed: Callable[[str], int]) -> None:
        """Begins to count rows for early words, with those that it holds. `closed`: by case, the lateness limit."""
        if self.detector.early:
            self.tally = Tally(self.detector)
            for group in self._groups(None, minimum=1):
                self.tally.put(group, closed(group.name[0]))

    def newest(self, name: Name, end: int) -> Iterator[Due]:
        """The window of one name that ends here, with the rows there are."""
        for group in self._named(name):
            yield from self._due(group, [end])

    def prefixes(self, due: Due) -> Iterator[Due]:
        """What the window was, in order of event time, when its newest part reached each of the early counts."""
        before = int(np.searchsorted(due.group.at, due.span.end - self.detector.window.every))
        for count in self.detector.early:
            if self.detector.minimum <= before + count <= len(due.group.at):
                yield Due(due.group.cut(0, before + count), due.span)

    def rows(self) -> int:
        """How many rows it holds, in the store or in memory."""
        return max(len(self.table), sum(run.rows for run in self.runs) + len(self.table) - self.table.saved)

    def save(self) -> Iterator[tuple[str, bytes]]:
        """The parts that make the rows durable, to be stored one by one, and before the manifest that names them.
        Whoever called compares `parts` before and after."""
        if self.table.saved == len(self.table):
            return
        yield from self._write(saved_blocks(self.table, self.table.saved))
        self.table.saved = len(self.table)
        while len(small := list(itertools.takewhile(self._small, reversed(self.runs)))) >= _MANY:
            self.runs = self.runs[: -len(small)]
            yield from self._write(blocks(merged([self._read(run.parts()) for run in small])))

    def spill(self) -> None:
        """Lets go of the rows in memory; all of them are saved."""
        if len(self.table):
            self.table.clear()
            self.resident = False

    def restore(self, floor: Callable[[str], int]) -> None:
        """Brings the runs' rows at or above their case's floor into memory, as far as they fit its stated size."""
        self.resident = False
        for run in self.runs:
            for group in self._read(run.parts()):
                self.table.extend(group.since(floor(group.name[0])))
                if self.table.size > self.limit:
                    self.table.clear()
                    return
        self.table.saved = len(self.table)
        self.resident = True

    def prune(self, floor: Callable[[str], int]) -> Iterator[tuple[str, bytes]]:
        """Drops rows below their case's floor; all of them are saved. Where the runs then hold mostly such, yields the
        parts to store instead, as `save` does."""
        if self.resident:
            self.table.keep(floor)
            if sum(run.rows for run in self.runs) > GARBAGE * len(self.table) + SLACK:
                self.runs, self.table.saved = [], 0
                yield from self.save()
            return
        groups = (group.since(floor(group.name[0])) for group in self._groups(None))
        kept = (group for group in groups if len(group.at))
        self.runs = []
        yield from self._write(blocks(kept))
        self.table.clear()

    def parts(self) -> list[str]:
        """The names of all parts that its runs need."""
        return [part for run in self.runs for part in run.parts()]

    def _groups(self, case: str | None, minimum: int | None = None) -> Iterator[Group]:
        if self.resident:
            return self.table.groups(case=case, minimum=self.detector.minimum if minimum is None else minimum)
        stored = [self._read(run.parts() if case is None else run.parts_of(case), case) for run in self.runs]
        return merged([*stored, self.table.groups(self.table.saved, case=case)])

    def _named(self, name: Name) -> Iterator[Group]:
        if self.resident:
            return self.table.of(name)
        stored = [self._read(run.parts_with(name), name[0], name[1]) for run in self.runs]
        return merged([*stored, self.table.of(name, self.table.saved)])

    def _ends(self, group: Group, since: int, until: int | None) -> Sequence[int]:
        """The ends of the windows whose newest part has rows of the group: after `since`, up to `until`."""
        every = self.detector.window.every
        ends = np.unique(group.at // every) * every + every
        ends = ends[ends > since]
        return [int(end) for end in ends if until is None or end <= until]

    def _due(self, group: Group, ends: Sequence[int]) -> Iterator[Due]:
        for end in ends:
            span = Span(end - self.detector.window.length, end)
            first, last = np.searchsorted(group.at, [span.start, span.end])
            if last - first >= self.detector.minimum:
                yield Due(group.cut(int(first), int(last)), span)

    def _small(self, run: Run) -> bool:
        return run.rows < min(_SMALL, _ALIKE * self.runs[-1].rows)

    def _write(self, made: Iterable[Block]) -> Iterator[tuple[str, bytes]]:
        run = Run(self.load.name(), 0, [])
        for block in made:
            yield f"{run.name}.{len(run.firsts)}", block.body
            run.firsts.append(block.first)
            run.rows += block.rows
        if run.rows:
            self.runs.append(run)

    def _read(self, parts: Iterable[str], case: str | None = None, key: str | None = None) -> Iterator[Group]:
        for part in parts:
            for group in decoded(self.load.read(part), len(self.detector.columns), case):
                if key is None or group.name[1] == key:
                    yield group


def _case(name: Name) -> str:
    return name[0]
