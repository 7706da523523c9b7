"""The laws of the timing measure: what it is for chance, for a clock, and what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.detectors.beaconing.rhythm import LAGS, rhythm, significance_of, variation_of
from workers.detectors.beaconing.scale import MILLION

GAPS = st.lists(st.integers(1, 10**9), min_size=8, max_size=60).map(lambda gaps: np.array(gaps, dtype=np.int64))
LAG = st.sampled_from(LAGS)
SECOND = 1_000_000


@pytest.mark.parametrize("lag", LAGS)
def test_chance_varies_by_one(lag: int) -> None:
    gaps = np.rint(np.random.default_rng(lag).exponential(SECOND, 200_000)).astype(np.int64) + 1
    assert abs(variation_of(gaps, lag)[0] - MILLION) < MILLION // 50


@pytest.mark.parametrize("lag", LAGS)
def test_a_clock_does_not_vary(lag: int) -> None:
    assert variation_of(np.full(20, 60 * SECOND, dtype=np.int64), lag)[0] == 0


@given(GAPS, LAG, st.integers(2, 1_000))
def test_variation_has_no_scale_and_no_direction(gaps: np.ndarray, lag: int, factor: int) -> None:
    assert variation_of(gaps * factor, lag) == variation_of(gaps, lag) == variation_of(gaps[::-1], lag)


@given(GAPS, LAG)
def test_variation_stays_within_its_bounds(gaps: np.ndarray, lag: int) -> None:
    variation, terms = variation_of(gaps, lag)
    assert 0 <= variation <= (2 * lag + 1) * MILLION
    assert terms == len(gaps) + 1 - 2 * lag


@given(st.integers(1, 5 * MILLION), st.integers(4, 10_000), LAG)
def test_significance_falls_with_variation_and_grows_with_evidence(variation: int, terms: int, lag: int) -> None:
    assert significance_of(variation - 1, terms, lag) >= significance_of(variation, terms, lag)
    if variation < MILLION // 2:
        assert significance_of(variation, 2 * terms, lag) > significance_of(variation, terms, lag)


@pytest.mark.parametrize("count", [6, 12, 25, 100])
@pytest.mark.parametrize("unit", [1, SECOND])
def test_chance_is_seldom_significant(count: int, unit: int) -> None:
    """3.5 standard deviations are 1 in 4,300 for one test of a normal; here up to eight are made."""
    random = np.random.default_rng([count, unit])
    significant = 0
    for _ in range(500):
        at = np.cumsum(np.rint(random.exponential(20 * SECOND, count)).astype(np.int64)) // unit * unit
        found = rhythm(at, fewest_calls=6)
        significant += found is not None and found.significance >= 3_500_000 and found.regularity > 0
    assert significant <= 10


@pytest.mark.parametrize("unit", [1, 1_000, SECOND])
def test_dense_random_times_on_a_grid_are_no_rhythm(unit: int) -> None:
    times = np.sort(np.random.default_rng(unit).integers(0, 3_600 * SECOND, 5_000)) // unit * unit
    found = rhythm(times, fewest_calls=6)
    assert found is not None
    assert found.regularity < MILLION // 4


def test_connections_that_belong_together_are_one_call() -> None:
    calls = np.arange(50, dtype=np.int64) * 60 * SECOND
    random = np.random.default_rng(3)
    extra = [call + random.integers(1, SECOND, random.integers(0, 4)) for call in calls]
    found = rhythm(np.sort(np.concatenate([calls, *extra])), fewest_calls=6)
    assert found is not None
    assert found.calls == 50
    assert found.regularity > 9 * MILLION // 10
    assert abs(found.period - 60 * SECOND) < SECOND


def test_two_callers_taking_turns_are_seen_by_a_longer_lag() -> None:
    at = np.sort(np.concatenate([np.arange(60) * 60 * SECOND, np.arange(60) * 60 * SECOND + 7 * SECOND]))
    found = rhythm(at + np.random.default_rng(1).integers(0, SECOND, 120), fewest_calls=6)
    assert found is not None
    assert found.regularity > 9 * MILLION // 10


def test_regular_bursts_far_apart_are_not_kept_up() -> None:
    bursts = [start * 1_800 * SECOND + np.arange(60) * SECOND for start in np.cumsum([1, 2, 1, 5, 1, 3, 1, 1, 4, 2])]
    found = rhythm(np.concatenate(bursts) + 1, fewest_calls=6)
    assert found is not None
    assert found.regularity < MILLION // 3


@given(st.lists(st.integers(0, 10**12), min_size=2, max_size=50).map(sorted), st.integers(0, 10**6))
def test_a_shift_in_time_changes_nothing(times: list[int], days: int) -> None:
    at = np.array(times, dtype=np.int64)
    if at[0] == at[-1]:
        return
    assert rhythm(at, 6) == rhythm(at + days * 86_400 * SECOND, 6)
