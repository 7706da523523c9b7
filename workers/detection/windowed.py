"""The plug-in API of detectors that look at many observations together: the framework keeps the window, so that late
records, restarts, duplicates and evidence are handled once and for all; the detector is two pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.errors import PluginError
from schemas.observation import Observation
from schemas.scales import DAY, HOUR
from workers.detection.plugin import Answer, Detector, Finding

Int64s = npt.NDArray[np.int64]


class Window(NamedTuple):
    """A sliding window of event time: `length` microseconds, concluded every `every` microseconds, at whole multiples
    of `every` since the epoch. `length` is a whole multiple of `every`."""

    length: int = DAY
    every: int = 6 * HOUR


class Span(NamedTuple):
    """One window: from `start` to before `end`, microseconds."""

    start: int
    end: int


class Measure(NamedTuple):
    """What a detector keeps of one observation: the key it is grouped by (within its case), as many integers as the
    detector has `columns`, and a label or None (names repeat: they are kept once)."""

    key: str
    numbers: tuple[int, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """The measures of one key in one window, by (event time, observation id), each observation once.

    `at` int64[n] microseconds; `numbers` int64[n, columns]; `labels` n labels or None.
    """

    at: Int64s
    numbers: Int64s
    labels: Sequence[str | None]


class Conclusion(NamedTuple):
    """A finding and the rows it rests on: a boolean for each row, or None for all of them."""

    finding: Finding
    evidence: npt.NDArray[np.bool_] | None = None


class WindowedDetector(Detector):
    """The base of a detector with a window. `minimum`: keys with fewer rows in the window are not concluded.

    `early`: a window is also concluded, provisionally, as soon as its newest part (the last `every` of it) holds so
    many rows of a key: ascending counts. A finding's `at` must then not fall as rows are added: left out, it does not.
    """

    window: ClassVar[Window] = Window()
    columns: ClassVar[Sequence[str]] = ()
    minimum: ClassVar[int] = 1
    early: ClassVar[Sequence[int]] = ()

    def measure(self, observation: Observation) -> Measure | Iterable[Measure] | None:
        """What to keep of this observation, or None."""
        raise PluginError(f"detector {self.name} has a window but no measure")

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | Conclusion | None:
        """What the rows of one key in one window say."""
        raise PluginError(f"detector {self.name} has a window but no conclude")

    def detect(self, observation: Observation) -> Answer:
        """A detector with a window says nothing about a single observation."""
        return None
