"""The merger's memory of cases is bounded by what it holds, not by how many cases there are."""

from __future__ import annotations

from merge.cache import SummaryCache
from merge.summary import Summary, advance
from tests import factories


def summary(size: int) -> Summary:
    return advance(Summary(1, "ver_1"), [factories.analysis(n) for n in range(size)])


def test_the_least_recently_used_go_first() -> None:
    cache = SummaryCache(12)
    cache.put("a", summary(3))
    cache.put("b", summary(3))
    assert cache.get("a") is not None
    cache.put("c", summary(5))
    assert [case for case in "abc" if cache.get(case) is not None] == ["a", "c"]


def test_what_is_replaced_or_dropped_makes_room() -> None:
    cache = SummaryCache(10)
    cache.put("a", summary(9))
    cache.put("a", summary(1))
    cache.put("b", summary(7))
    assert cache.get("a") is not None
    cache.drop("a")
    cache.drop("a")
    cache.put("c", summary(1))
    assert [case for case in "abc" if cache.get(case) is not None] == ["b", "c"]


def test_one_that_is_larger_than_all_room_is_not_kept() -> None:
    cache = SummaryCache(10)
    cache.put("a", summary(10))
    assert cache.get("a") is None
    cache.put("b", summary(9))
    assert cache.get("b") is not None


def test_all_can_be_forgotten() -> None:
    cache = SummaryCache(10)
    cache.put("a", summary(9))
    cache.clear()
    assert cache.get("a") is None
    cache.put("b", summary(9))
    assert cache.get("b") is not None
