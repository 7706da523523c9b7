"""StateStore: the index of cases and the marks of what was published."""

from __future__ import annotations

import random

import pytest

from engines.engine import Engine
from engines.store import CaseOrder, CaseRow, Move
from schemas.errors import UnknownCase
from tests.conformance.lines import CASE, GENESIS, commit, head_after

TENANTS = ("acme", "acme-corp", "acm", "zeta")


@pytest.fixture
def rows(engine: Engine) -> list[CaseRow]:
    """Sixty cases of four tenants, with many equal scores and times."""
    chance = random.Random(6)
    commits = [
        commit(
            f"{TENANTS[number % 4]}/host:{chance.randrange(10**6)}",
            GENESIS,
            score=chance.randrange(4),
            updated_at=chance.randrange(3),
        )
        for number in range(60)
    ]
    assert all(engine.store.commit(commits))
    return [one.row for one in commits]


def ordered(rows: list[CaseRow], order: CaseOrder) -> list[CaseRow]:
    keys = {
        "score": lambda row: (-row.score, -row.updated_at, row.key),
        "updated": lambda row: (-row.updated_at, row.key),
        "key": lambda row: row.key,
    }
    return sorted(rows, key=keys[order])


@pytest.mark.parametrize("order", ["score", "updated", "key"])
@pytest.mark.parametrize("tenant", [None, *TENANTS])
def test_cases_come_in_order_whole_or_in_pages(
    engine: Engine, rows: list[CaseRow], order: CaseOrder, tenant: str | None
) -> None:
    """I8: a tenant is a whole segment; acme is neither acme-corp nor acm."""
    expected = ordered([row for row in rows if tenant in (None, row.tenant)], order)
    assert list(engine.store.cases(tenant, order=order)) == expected
    paged: list[CaseRow] = []
    while page := engine.store.cases(tenant, order=order, limit=7, after=paged[-1].key if paged else None):
        assert len(page) <= 7
        paged += page
    assert paged == expected


def test_worst_first_is_the_plain_order(engine: Engine, rows: list[CaseRow]) -> None:
    assert list(engine.store.cases("acme", limit=5)) == ordered([r for r in rows if r.tenant == "acme"], "score")[:5]


def test_an_unknown_tenant_has_no_cases_and_a_page_needs_a_known_one(engine: Engine, rows: list[CaseRow]) -> None:
    assert engine.store.cases("nobody") == []
    with pytest.raises(UnknownCase):
        engine.store.cases(None, after="acme/nobody")


def test_the_row_follows_the_head(engine: Engine) -> None:
    first = commit(CASE, GENESIS, score=900_000)
    second = commit(CASE, head_after(first), score=100, verdict="benign", severity="info", analyses=9, updated_at=7)
    other = commit("acme/other", GENESIS, score=500)
    engine.store.commit([first, other, second])
    assert engine.store.row(CASE) == second.row
    assert [row.key for row in engine.store.cases("acme")] == ["acme/other", CASE]


def test_published_marks_move_by_compare_and_swap(engine: Engine) -> None:
    store = engine.store
    first = commit(CASE, GENESIS)
    second = commit(CASE, head_after(first))
    store.commit([first, second, commit("acme/other", GENESIS)])
    assert store.published([CASE, "acme/none"]) == {CASE: 0, "acme/none": 0}
    assert sorted(store.unpublished(10)) == sorted([CASE, "acme/other"])
    assert len(store.unpublished(1)) == 1
    assert list(store.move_published([Move(CASE, 0, 1)])) == [True]
    assert list(store.move_published([Move(CASE, 0, 2), Move("acme/none", 0, 1)])) == [False, False]
    assert store.published([CASE]) == {CASE: 1}
    assert CASE in store.unpublished(10)
    assert list(store.move_published([Move("acme/none", 0, 1), Move(CASE, 1, 2)])) == [False, True]
    assert store.unpublished(10) == ["acme/other"]
    store.commit([commit(CASE, head_after(second))])
    assert store.published([CASE]) == {CASE: 2}
    assert sorted(store.unpublished(10)) == sorted([CASE, "acme/other"])
