"""Two detectors that started from the same version of one case: both results are in the merged state, under each
policy, in either order, in one batch or two (state table of the field reports, row 1; I3, I4)."""

from __future__ import annotations

import pytest

from merge.branches import Branch, branch_of
from merge.policies.registry import BoundPolicy
from tests import factories
from tests.unit.merge import cases

SEEN = factories.observation(0)
CALLS = factories.analysis(1, verdict="malicious", score=900_000, target="203.0.113.9", on=(SEEN,))
NAMES = factories.analysis(2, detector="dns", score=600_000, target="tunnel.example", on=(factories.observation(1),))


def from_one_version(policy: BoundPolicy) -> tuple[Branch, Branch, Branch]:
    """The branch that makes version 1, and two that were made by those who looked at it."""
    first = branch_of(factories.branch(SEEN))
    summary, _ = cases.merged([[first]], policy)
    calls = factories.branch(CALLS, SEEN, parent=summary.id)
    names = factories.branch(NAMES, factories.observation(1), parent=summary.id, author="dns")
    return first, branch_of(calls), branch_of(names)


@pytest.mark.parametrize("policy", cases.POLICIES, ids=lambda one: f"{one.name} {one.recorded}")
def test_both_are_in_the_state_in_either_order(policy: BoundPolicy) -> None:
    first, calls, names = from_one_version(policy)
    assert calls.header.parents == names.header.parents
    orders = [
        [[first], [calls], [names]],
        [[first], [names], [calls]],
        [[first], [calls, names]],
        [[first], [names, calls, names]],
    ]
    outcomes = [cases.merged(batches, policy) for batches in orders]
    assert len({repr(assessment) for _, assessment in outcomes}) == 1
    for summary, _ in outcomes:
        assert {one.id for one in summary.current.values()} == {CALLS.id, NAMES.id}
        assert (summary.inputs_total, summary.analyses_total) == (2, 2)


EXPECTED = {
    "worst {}": ("malicious", 900_000),
    "quorum {'k': 2}": ("suspicious", 600_000),
    "quorum {'k': 1}": ("malicious", 900_000),
    "noisy-or {}": ("malicious", 960_000),
    "trust-order {'order': ['dns', 'beaconing']}": ("suspicious", 600_000),
    "trust-order {'order': []}": ("unknown", 0),
    "worst {'max_age': '2s'}": ("malicious", 900_000),
    "noisy-or {'max_age': '1s', 'allow': ['* 1', 'fingerprint 2']}": ("unknown", 0),
}


def test_what_each_policy_makes_of_them() -> None:
    found = {}
    for policy in cases.POLICIES:
        first, calls, names = from_one_version(policy)
        _, made = cases.merged([[first], [names], [calls]], policy)
        assert made is not None
        found[f"{policy.name} {policy.recorded}"] = (made.verdict, made.score)
    assert found == EXPECTED
