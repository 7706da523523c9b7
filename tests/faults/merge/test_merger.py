"""The merger on the embedded engine: what it takes, what it refuses, what it counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.engine import Engine
from engines.log import Batch, LogRecord, TopicPartition
from engines.store import Move
from engines.topics import VERSIONS
from merge.history import state_at
from merge.merger import Merger
from merge.policies.registry import BoundPolicy, Chosen, Registry
from merge.summary import SNAPSHOT_EVERY
from schemas.errors import UnknownCase
from tests import factories
from tests.engine import open_home
from tests.faults.merge.homes import Outcome, batch, in_quarantine, made, outcomes, published

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_home(made(tmp_path)) as opened:
        yield opened


def test_results_that_come_together_are_all_kept(engine: Engine) -> None:
    """Field reports, second table, row 1: parallel results are bound to their own branches."""
    branches = [factories.branch(factories.analysis(n), author=f"worker {n}") for n in range(50)]
    Merger(engine.log, engine.store).handle(batch(branches))
    state = state_at(engine.store, factories.CASE)
    assert set(state.analyses) == {content.id for one in branches for content in one.contents}
    assert published(engine, factories.CASE) == [1]


def test_repeating_one_of_four_branches_leaves_its_siblings_alone(engine: Engine) -> None:
    """Field reports, second table, row 6."""
    merger = Merger(engine.log, engine.store)
    four = [factories.finding(n) for n in range(4)]
    merger.handle(batch(four))
    before = outcomes(engine)
    merger.handle(batch([four[2]]))
    merger.handle(batch([four[2], four[2]]))
    assert outcomes(engine) == before
    assert published(engine, factories.CASE) == [1]
    assert (merger.stats.branches, merger.stats.versions, merger.stats.nothing_new) == (7, 1, 3)


def test_a_redelivered_branch_sees_to_it_that_everything_is_published(engine: Engine) -> None:
    merger = Merger(engine.log, engine.store)
    merger.handle(batch([factories.finding(1)]))
    merger.handle(batch([factories.finding(2)]))
    assert all(engine.store.move_published([Move(factories.CASE, 2, 0)]))
    Merger(engine.log, engine.store).handle(batch([factories.finding(1)]))
    assert published(engine, factories.CASE) == [1, 2, 1, 2]
    assert engine.store.published([factories.CASE]) == {factories.CASE: 2}


def test_a_bad_record_is_quarantined_with_its_place_and_the_rest_goes_on(engine: Engine) -> None:
    """Field reports, second table, rows 9 and 10: it names topic, offset and type, and the field's path."""
    good = factories.finding(1)
    unknown = json.dumps({**json.loads(good.encode()), "schema": 99}).encode()
    foreign = factories.finding(2, tenant="acme").encode()
    values = [(factories.CASE, b"\xc1"), (factories.CASE, unknown), (factories.CASE, good.encode()), ("?/x", foreign)]
    kept = [LogRecord(40 + n, key, value, factories.START) for n, (key, value) in enumerate(values)]
    merger = Merger(engine.log, engine.store, now=lambda: factories.START)
    at = TopicPartition(VERSIONS, 1)
    assert merger.handle([Batch(at, kept, 44)]) == {at: 44}
    found = {one.source.offset: one for one in in_quarantine(engine)}
    assert [(found[n].code, found[n].tenant) for n in (40, 41, 43)] == [
        ("record_invalid", "default"),
        ("unknown_type", "default"),
        ("tenant_mismatch", "default"),
    ]
    assert found[41].reason.startswith("versions[1] offset 41: not a valid StateVersion record (schema: ")
    assert (found[41].data, found[41].what, found[41].author) == (unknown, "record", "merger")
    assert (found[41].source.topic, found[41].source.partition) == (VERSIONS, 1)
    assert list(outcomes(engine)) == [factories.CASE]
    assert (merger.stats.branches, merger.stats.quarantined) == (1, 3)


def test_a_failing_policy_drops_nothing(engine: Engine) -> None:
    """I3, I9."""

    def broken(*given: Any) -> Any:
        raise RuntimeError

    merger = Merger(engine.log, engine.store, lambda tenant, subject: BoundPolicy("broken", broken, {}))
    merger.handle(batch([factories.finding(n) for n in range(3)]))
    got = outcomes(engine)[factories.CASE]
    assert got.assessment is not None
    assert (got.assessment.review, got.assessment.policy, got.analyses) == (("policy_failed",), "broken", 3)


def test_each_case_gets_its_own_policy(engine: Engine) -> None:
    bound = Registry().bind(Chosen("trust-order", {"order": ["dns"]}))
    merger = Merger(engine.log, engine.store, lambda tenant, subject: bound if tenant == "acme" else _worst())
    merger.handle(batch([factories.finding(1), factories.finding(1, tenant="acme")]))
    assert {key: _policy(one) for key, one in outcomes(engine).items()} == {
        "acme/host:10.0.0.5": ("trust-order", "unknown"),
        factories.CASE: ("worst", "suspicious"),
    }


def _worst() -> BoundPolicy:
    return Registry().bind(Chosen())


def _policy(outcome: Outcome) -> tuple[str, str]:
    assert outcome.assessment is not None
    return outcome.assessment.policy, outcome.assessment.verdict


def test_snapshots_are_taken_as_the_case_grows(engine: Engine) -> None:
    merger = Merger(engine.log, engine.store)
    for n in range(SNAPSHOT_EVERY * 3):
        merger.handle(batch([factories.finding(n % 5, at=factories.START + n)]))
    assert [_snapshot(engine, n) for n in (63, 64, 127, 128, 192)] == [None, 64, 64, 128, 192]


def _snapshot(engine: Engine, number: int) -> int | None:
    found = engine.store.snapshot(factories.CASE, number)
    return None if found is None else found.number


def test_cases_of_other_tenants_stay_apart(engine: Engine) -> None:
    """I8."""
    tenants = ("acme", "acme-corp", "default")
    merger = Merger(engine.log, engine.store)
    merger.handle(batch([factories.finding(n, tenant=tenant) for tenant in tenants for n in range(2)]))
    assert [row.key for row in engine.store.cases("acme")] == ["acme/host:10.0.0.5"]
    assert {one.tenant for one in state_at(engine.store, "acme/host:10.0.0.5").analyses.values()} == {"acme"}
    with pytest.raises(UnknownCase):
        state_at(engine.store, "acme/host:10.0.0.6")
