"""I4: merging is commutative, associative and idempotent, for the state and for the assessment of every policy."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.branches import Branch
from merge.contents import read_stored
from merge.policies.registry import BoundPolicy
from merge.state import State, add, add_analysis, add_input, current
from merge.summary import advance, empty, moved, summarise
from schemas.observation import Observation
from tests import factories
from tests.unit.merge import cases


@given(st.data(), st.sampled_from(cases.POLICIES))
def test_batches_in_any_order_and_number_give_one_result(data: st.DataObject, policy: BoundPolicy) -> None:
    branches: list[Branch] = data.draw(cases.branches)
    one, other = data.draw(cases.deliveries(branches)), data.draw(cases.deliveries(branches))
    (a, assessed_a), (b, assessed_b) = cases.merged(one, policy), cases.merged(other, policy)
    assert (a.current, a.inputs_total, a.analyses_total, a.newest) == (
        b.current,
        b.inputs_total,
        b.analyses_total,
        b.newest,
    )
    assert assessed_a == assessed_b


@given(st.data(), st.sampled_from(cases.POLICIES))
def test_a_redelivery_of_everything_adds_nothing(data: st.DataObject, policy: BoundPolicy) -> None:
    branches: list[Branch] = data.draw(cases.branches)
    once, assessed = cases.merged([branches], policy)
    twice, assessed_twice = cases.merged([branches, *data.draw(cases.deliveries(branches))], policy)
    assert (once, assessed) == (twice, assessed_twice)


@given(st.data())
def test_the_order_inside_a_batch_makes_no_other_version(data: st.DataObject) -> None:
    branches: list[Branch] = data.draw(cases.branches)
    one, other = (
        cases.merged([branches], cases.POLICIES[0]),
        cases.merged([data.draw(st.permutations(branches))], cases.POLICIES[0]),
    )
    assert one[0].id == other[0].id


@given(cases.branches, st.sampled_from(cases.POLICIES))
def test_merging_agrees_with_the_plain_reducers(branches: list[Branch], policy: BoundPolicy) -> None:
    summary, _ = cases.merged([[one] for one in branches], policy)
    read = [read_stored(one.id, one.envelope) for branch in branches for one in branch.contents]
    state = add(State(), (one for one in read if one is not None))
    assert summary == summarise(state, summary.number, summary.id, summary.at)


@given(st.data())
def test_the_summary_of_a_state_is_that_of_its_parts_in_any_order(data: st.DataObject) -> None:
    records = data.draw(cases.records)
    order = data.draw(st.permutations(records))
    cut = data.draw(st.integers(0, len(order)))
    parts = advance(advance(empty(*cases.KEY), order[:cut]), order[cut:])
    assert moved(parts, 3, "ver_x", 7) == summarise(add(State(), records), 3, "ver_x", 7)


@given(st.data())
def test_reducers_commute_and_repeats_change_nothing(data: st.DataObject) -> None:
    records = data.draw(cases.records)
    order = data.draw(st.permutations([*records, *records]))

    def step(state: State, one: object) -> State:
        return add_input(state, one) if isinstance(one, Observation) else add_analysis(state, one)  # type: ignore[arg-type] # it is one of both

    stepwise = reduce(step, order, State())
    assert stepwise == add(State(), records)
    assert current(stepwise) == current(add(State(), records))


def test_a_reducer_that_adds_nothing_returns_the_state_itself() -> None:
    state = add_input(State(), factories.observation())
    assert add_input(state, factories.observation()) is state


def test_reducers_leave_the_earlier_state_alone() -> None:
    state = add_analysis(State(), factories.analysis(1))
    add_analysis(state, factories.analysis(2))
    assert len(state.analyses) == 1


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ({"at": 2}, {"at": 1}),
        ({"at": 1}, {"at": None}),
        ({"at": 1, "provisional": False}, {"at": 1, "provisional": True}),
        ({"at": 2, "provisional": True}, {"at": 1, "provisional": False}),
        ({"at": 1, "on": (factories.observation(1),)}, {"at": 1}),
    ],
)
def test_the_current_analysis_is_the_newest_then_the_final_then_the_best_founded(newer: dict, older: dict) -> None:  # type: ignore[type-arg] # keyword arguments of a factory
    a, b = factories.analysis(**newer), factories.analysis(**older)
    assert current(add(State(), [a, b])) == {a.key: a}
