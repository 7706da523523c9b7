"""Versions folded and compared, on data alone."""

from __future__ import annotations

import pytest

from merge.assess import assess
from merge.graph import Moment, diff, fold, turns
from merge.policies.registry import WORST, Chosen, Registry
from merge.state import State, add, current
from merge.summary import Summary
from schemas.errors import IdMismatch, UsageError
from tests import factories
from tests.unit.merge.cases import POLICIES


def moment(number: int, *analyses: object) -> Moment:
    state = add(State(), analyses)  # type: ignore[arg-type] # analyses of the factory
    return Moment(Summary(number, f"ver_{number}", current=current(state)), None)


def test_a_fold_holds_everything_once_in_any_order() -> None:
    versions = [factories.finding(n) for n in range(5)]
    assert fold(versions) == fold([*reversed(versions), *versions])
    assert len(fold(versions).inputs) == len(fold(versions).analyses) == 5


def test_a_fold_proves_its_contents() -> None:
    version = factories.finding(1)
    wrong = version.contents[0].model_copy(update={"id": version.contents[0].id[:-1] + "x"})
    with pytest.raises(IdMismatch):
        fold([version.model_copy(update={"contents": (wrong,)})])


def test_a_difference_says_what_came_and_what_it_superseded() -> None:
    old, new, other = factories.analysis(1), factories.analysis(1, at=factories.START + 9), factories.analysis(2)
    between = [factories.branch(new, factories.observation(3)), factories.branch(other)]
    got = diff(moment(1, old), moment(3, old, new, other), between)
    assert (got.first, got.last) == (1, 3)
    assert got.analyses == tuple(sorted([new.id, other.id]))
    assert got.inputs == (factories.observation(3).id,)
    assert {one.id for one in got.became_current} == {new.id, other.id}
    assert got.superseded == (old,)
    assert not got.assessment_changed


def test_a_difference_runs_forward() -> None:
    with pytest.raises(UsageError):
        diff(moment(2), moment(1), [])


def test_what_counts_otherwise_is_named_and_nothing_else() -> None:
    """What was left out and is again, what came and counts, and what was superseded, are no turns."""
    stays, goes, comes = (factories.analysis(n) for n in range(3))
    allowing = Registry().bind(Chosen("worst", {"allow": ["fingerprint 1"]}))
    before, listed = moment(1, stays, goes), moment(2, stays, goes, comes)
    every, some = (assess(listed.said.values(), None, policy) for policy in (WORST, allowing))
    counts, left = Moment(before.summary, every), Moment(listed.summary, some)
    assert turns(counts, left) == ((goes, "counts", "allowed"),)
    assert turns(left, Moment(left.summary, every)) == ((goes, "allowed", "counts"),)
    assert turns(moment(0), left) == ((goes, None, "allowed"),)
    assert turns(left, left) == turns(moment(0), counts) == ()


def test_every_policy_is_tried_by_the_laws() -> None:
    assert {one.name for one in POLICIES} == set(Registry().names)
