"""Is this a rhythm, or what a memoryless process would do? The timing half of our own measure.

For independent exponential gaps a and b, a / (a + b) is uniform; for sums of k of them it is Beta(k, k). So over
neighbouring stretches a = t[i+k] - t[i], b = t[i+2k] - t[i+k] the *variation*

    V(k) = (2k + 1) x mean of ((b - a) / (b + a))^2

is 1 on average for a Poisson process at any rate, 0 for a clock, above 1 for bursts. V(1) is the local variation Lv of
Shinomoto, Shima and Tanji (Neural Computation 15, 2003); k > 1 is the same thought for k interleaved callers. Each
term compares two neighbouring stretches only, so slow changes of rate, a back-off, or a night's sleep hardly move it,
and a lost beat costs two terms.

Bursts hide a rhythm (three connections a check-in), so the test is also made on *calls*: connections closer than a
quarter of the mean gap are one call. Of exponential gaps, the part above a threshold is exponential again: taking only
that part keeps the null exact instead of making any thinned process look regular.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing.connections import MICROSECONDS
from workers.detectors.beaconing.scale import MILLION, millionths

RESOLUTIONS: Final = (MICROSECONDS, MICROSECONDS // 1000)
"""Time stamps coarser than a microsecond that sensors write."""
LAGS: Final = (1, 2, 3, 4)
CALL_GAP_DIVISOR: Final = 4
KEPT_UP: Final = 10
"""A silence of more than this many periods is not part of the rhythm."""
CLEARLY: Final = MILLION // 20
"""A less simple reading (a longer lag, joined calls) must be more regular by this, or the simpler one stands."""
PERSISTENCE_NEEDED: Final = MILLION // 4
"""Below this share of the observed span a rhythm counts in proportion: a regular burst or two is no habit."""
SIGNIFICANCE_FROM: Final = 2 * MILLION
SIGNIFICANCE_FULL: Final = 7 * MILLION // 2
"""Standard deviations from which a rhythm starts to count, and from which it counts in full: eight are tried."""
NULL_VARIANCE: Final = 1.2
"""V(k) over n terms has variance NULL_VARIANCE x k / n for a Poisson process (terms overlap); from simulation."""
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The best of the tested rhythms. Times in microseconds, the rest in millionths unless said."""

    regularity: int
    """0..1: how regular, times how sure, times how far it was kept up."""
    variation: int
    """V(k): 0 a clock, 1 memoryless, above 1 bursts."""
    significance: int
    """Standard deviations below memoryless."""
    lag: int
    """k, a plain number: how many callers seem to be interleaved."""
    calls: int
    """Connections after joining those that belong together; a plain number."""
    period: int
    """Median time from a call to the k-th next."""
    jitter: int
    """Interquartile range of those times over their median."""
    persistence: int
    """Share of the observed span that has no silence longer than KEPT_UP periods."""


def rhythm(at: Integers, fewest_calls: int) -> Rhythm | None:
    """The strongest rhythm in sorted start times (microseconds, shape (n,)); None if there are too few calls."""
    best: Rhythm | None = None
    for times, excess in _readings(_refined(at)):
        if len(times) < fewest_calls:
            continue
        for lag in LAGS:
            # a null needs a few terms of its own: below this a lag could only repeat the same stretch
            if len(excess) < 3 * lag + 2:
                break
            candidate = _at_lag(times, excess, lag)
            if best is None or candidate.regularity > best.regularity + CLEARLY:
                best = candidate
    return best


def _refined(at: Integers) -> Integers:
    """Coarse time stamps spread over their unit, since a grid makes even random times look regular.

    The offsets are a fixed sequence, so equal connections give equal results; it is scrambled, not evenly spaced,
    because even spacing would be a rhythm of its own. (The mix is the finaliser of SplitMix64, Steele et al. 2014.)
    """
    for unit in RESOLUTIONS:
        if not np.any(at % unit):
            mixed = np.arange(1, len(at) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
            mixed ^= mixed >> np.uint64(31)
            return np.sort(at + (mixed % np.uint64(unit)).astype(np.int64))
    return at


def _readings(at: Integers) -> Iterator[tuple[Integers, Integers]]:
    """(call times, gaps between them beyond the joining threshold): each connection a call, then joined ones."""
    gaps = np.diff(at)
    lasted = int(at[-1] - at[0])
    thresholds = (0, lasted // max(1, len(gaps)) // CALL_GAP_DIVISOR)
    previous = -1
    for threshold in thresholds:
        apart = gaps > threshold
        kept = int(np.count_nonzero(apart))
        if kept == previous:
            return
        previous = kept
        yield at[np.concatenate(([True], apart))], gaps[apart] - threshold


def _at_lag(times: Integers, excess: Integers, lag: int) -> Rhythm:
    variation, terms = variation_of(excess, lag)
    significance = significance_of(variation, terms, lag)
    stretches = times[lag:] - times[:-lag]
    ranks = (len(stretches) // 4, len(stretches) // 2, 3 * len(stretches) // 4)
    lower, period, upper = (int(value) for value in np.partition(stretches, ranks)[list(ranks)])
    gaps = np.diff(times)
    lasted = int(times[-1] - times[0])
    persistence = int(gaps[gaps <= KEPT_UP * period].sum()) * MILLION // lasted
    ramp = SIGNIFICANCE_FULL - SIGNIFICANCE_FROM
    sure = min(MILLION, max(0, significance - SIGNIFICANCE_FROM) * MILLION // ramp)
    kept_up = min(MILLION, persistence * MILLION // PERSISTENCE_NEEDED)
    strength = millionths((max(0, MILLION - variation) / MILLION) ** 0.5)
    return Rhythm(
        regularity=strength * sure // MILLION * kept_up // MILLION,
        variation=variation,
        significance=significance,
        lag=lag,
        calls=len(times),
        period=period,
        jitter=(upper - lower) * MILLION // max(1, period),
        persistence=persistence,
    )


def variation_of(gaps: Integers, lag: int) -> tuple[int, int]:
    """V(lag) of positive gaps in millionths, and the number of terms. Needs at least 2 x lag gaps."""
    ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(gaps)))
    before = ends[lag:-lag] - ends[: -2 * lag]
    after = ends[2 * lag :] - ends[lag:-lag]
    # each term is rounded to an integer first, so that the sum does not depend on the order of additions
    terms = np.rint(((after - before) / (after + before)) ** 2 * MILLION).astype(np.int64)
    return (2 * lag + 1) * int(terms.sum()) // len(terms), len(terms)


def significance_of(variation: int, terms: int, lag: int) -> int:
    """How many standard deviations (millionths) below a memoryless process this is; negative: burstier.

    V has mean 1 and variance NULL_VARIANCE x lag / terms; its lower tail is close to a chi-square's of the same
    variance, brought to a normal scale by Wilson and Hilferty's cube root.
    """
    spread = NULL_VARIANCE * lag / terms / 9
    return millionths((1 - spread - (variation / MILLION) ** (1 / 3)) / spread**0.5)
