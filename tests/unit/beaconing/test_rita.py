"""RITA's sub-scores against the values that are published for them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.beaconing.traffic import START, WINDOW, connections
from workers.detectors.beaconing.connections import MICROSECONDS
from workers.detectors.beaconing.rita import (
    bin_counts,
    duration_score,
    histogram_score,
    quartiles,
    rita,
    spread_score,
    timestamp_score,
)


def stamps(gaps: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.cumsum([1_000, *gaps], dtype=np.int64)


@pytest.mark.parametrize(
    ("gaps", "score"),
    [([98, 300] * 5, 0.746), ([1, 299, 25, 4975, 90, 2, 42, 500, 1500], 0.083)],
)
def test_timestamp_known_values(gaps: list[int], score: float) -> None:
    assert timestamp_score(stamps(gaps)) == score


def test_timestamp_drops_zero_gaps_and_needs_three() -> None:
    assert timestamp_score(stamps([60, 0, 60, 0, 60])) == 1.0
    assert timestamp_score(stamps([60, 0, 60])) == 0.0


def test_data_size_known_value_in_any_order() -> None:
    sizes = np.arange(1, 11)
    assert spread_score(sizes, default=0) == 0.773
    assert spread_score(sizes[::-1], default=0) == 0.773


def test_default_counts_where_the_median_is_below_one() -> None:
    zeros = np.zeros(9, dtype=np.int64)
    assert spread_score(zeros, default=0) == 0.5
    assert spread_score(zeros, default=1) == 1.0


def test_quartiles_leave_the_middle_value_out_of_both_halves() -> None:
    assert quartiles(np.array([1, 2, 3, 4, 100])) == (1.5, 3.0, 52.0)
    assert quartiles(np.array([1, 2, 3, 4])) == (1.5, 2.5, 3.5)


def test_histogram_known_values() -> None:
    assert histogram_score(list(range(1, 11))) == 0.478
    assert histogram_score([4, 1] * 5, fewest_for_modes=1) == 1.0


def test_histogram_uses_the_commonest_sizes_only_from_eleven_bins() -> None:
    uneven = [40, 1] * 5
    assert histogram_score(uneven + [0] * 14) == 0.0
    assert histogram_score([*uneven, 40] + [0] * 13) == 1.0


def test_duration_takes_the_longest_run_around_the_clock() -> None:
    run_over_midnight = [1] * 3 + [0] * 18 + [1] * 3
    assert duration_score(run_over_midnight, 0, 24) == 0.5
    assert duration_score([1] * 5 + [0] * 19, 24, 24) == 0.0
    assert duration_score([1] * 24, 1, 24) == 1.0


def test_duration_is_rounded_up_to_thousandths() -> None:
    assert duration_score([1, 0] * 6 + [0] * 12, 1_001, 2_000) == 0.501
    assert duration_score([1, 0] * 6 + [0] * 12, 1, 1_000_000) == 0.084


def test_bins_are_equal_and_cover_the_window() -> None:
    at = np.array([START, START + 3_599, START + 3_600, START + 86_399]) * MICROSECONDS
    assert bin_counts(at, WINDOW.start, WINDOW.end) == [2, 1] + [0] * 21 + [1]


def test_a_clock_over_the_whole_day_scores_one_and_three_timestamps_none() -> None:
    scores = rita(connections(np.arange(0, 86_400, 60.0)), WINDOW)
    assert scores is not None
    assert (scores.timestamp, scores.data_size, scores.histogram, scores.duration, scores.score) == (1, 1, 1, 1, 1)
    assert rita(connections(np.array([0, 0.1, 60, 60.2, 120])), WINDOW) is None
