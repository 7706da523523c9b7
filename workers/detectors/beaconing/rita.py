"""RITA 5's beacon score, from its published formulae, kept beside ours so that people can compare.

Nothing here decides anything: our own measure is in `rhythm.py` and `exchange.py`. All values are floats from 0 to 1,
rounded to three places as RITA reports them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing.connections import MICROSECONDS, Connections, Span

BINS: Final = 24
HOUR: Final = 3600 * MICROSECONDS
FEWEST_TIMESTAMPS: Final = 4
FEWEST_GAPS: Final = 3
FEWEST_BINS_FOR_MODES: Final = 11
FEWEST_BINS_FOR_DURATION: Final = 6
IDEAL_RUN: Final = 12
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scores:
    """The four sub-scores and their mean, 0 to 1."""

    timestamp: float
    data_size: float
    histogram: float
    duration: float
    score: float


def rita(connections: Connections, span: Span) -> Scores | None:
    """RITA's scores of these connections in this window; None below four distinct timestamps (whole seconds)."""
    seconds = connections.at // MICROSECONDS
    if len(np.unique(seconds)) < FEWEST_TIMESTAMPS:
        return None
    start = span.start // HOUR * HOUR
    counts = bin_counts(connections.at, start, span.end)
    first, last = int(connections.at[0]), int(connections.at[-1])
    parts = (
        timestamp_score(seconds),
        spread_score(connections.sent[connections.sent >= 0], default=0.0),
        histogram_score(counts),
        duration_score(counts, last - first, span.end - start),
    )
    return Scores(*parts, score=round(sum(parts) / 4, 3))


def spread_score(values: Integers, *, default: float) -> float:
    """How narrow and symmetric `values` are: S(x, default) of the facts page. Any order; 0 for no values."""
    if len(values) == 0:
        return 0.0
    ordered = np.sort(values)
    q1, q2, q3 = quartiles(ordered)
    width = q3 - q1
    skew = 0.0 if width < 10 or q2 in (q1, q3) else (q1 + q3 - 2 * q2) / width
    deviation = _median(np.sort(np.abs(ordered - q2)))
    narrowness = max(0.0, (q2 - deviation) / q2) if q2 >= 1 else default
    return round(((1 - abs(skew)) + narrowness) / 2, 3)


def quartiles(ordered: npt.NDArray[np.int64]) -> tuple[float, float, float]:
    """Medians of lower half, whole and upper half of a sorted array; the middle value is in neither half."""
    half = len(ordered) // 2
    middle = _median(ordered)
    if half == 0:
        return middle, middle, middle
    return _median(ordered[:half]), middle, _median(ordered[len(ordered) - half :])


def timestamp_score(seconds: Integers) -> float:
    """S of the gaps in whole seconds between sorted timestamps, zero gaps dropped; 0 below three gaps."""
    gaps = np.diff(seconds)
    gaps = gaps[gaps > 0]
    return spread_score(gaps, default=1.0) if len(gaps) >= FEWEST_GAPS else 0.0


def bin_counts(at: Integers, start: int, end: int) -> list[int]:
    """Connections in each of 24 equal bins over start..end (microseconds); a time outside counts in the nearest bin."""
    bins = np.clip((at - start) * BINS // max(1, end - start), 0, BINS - 1)
    return [int(count) for count in np.bincount(bins, minlength=BINS)]


def histogram_score(counts: list[int], *, fewest_for_modes: int = FEWEST_BINS_FOR_MODES) -> float:
    """The larger of evenness (1 - coefficient of variation) and the share of bins in the two commonest sizes."""
    filled = [count for count in counts if count]
    if not filled:
        return 0.0
    total, squares, bins = sum(counts), sum(count * count for count in counts), len(counts)
    variation = math.sqrt(bins * squares - total * total) / total
    evenness = max(0.0, 1 - variation)
    if len(filled) < fewest_for_modes:
        return round(evenness, 3)
    width = -(-max(filled) // 20)
    groups = Counter(count // width for count in filled)
    commonest = sum(size for _, size in groups.most_common(2))
    return round(max(evenness, min(1.0, commonest / (len(filled) - 1))), 3)


def duration_score(counts: list[int], lasted: int, window: int) -> float:
    """The larger of window coverage and longest run of filled bins (circular) over twelve; 0 below six filled bins."""
    if sum(1 for count in counts if count) < FEWEST_BINS_FOR_DURATION:
        return 0.0
    return max(_thousandths_up(lasted, window), _thousandths_up(_longest_run(counts), IDEAL_RUN))


def _longest_run(counts: list[int]) -> int:
    longest = run = 0
    for count in counts + counts:
        run = run + 1 if count else 0
        longest = max(longest, run)
    return min(longest, len(counts))


def _thousandths_up(part: int, whole: int) -> float:
    return min(1.0, -(-part * 1000 // max(1, whole)) / 1000)


def _median(ordered: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> float:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return float(ordered[middle - 1] + ordered[middle]) / 2
