"""Small cases drawn at random, and the merger's loop in memory: what the laws of merging are tried on."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from merge.branches import Branch, branch_of
from merge.plan import Maker, plan
from merge.policies.registry import BoundPolicy, Chosen, Registry
from merge.state import Kept
from merge.summary import Summary, empty
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.keys import CaseKey
from schemas.observation import Observation
from schemas.scales import SECOND
from schemas.verdicts import VERDICTS
from schemas.version import Author
from tests import factories

KEY = CaseKey(factories.TENANT, factories.SUBJECT)
MERGER = Author(kind="merger", name="merger")
POLICIES = [
    Registry().bind(Chosen(name, options))
    for name, options in (
        ("worst", {}),
        ("quorum", {}),
        ("quorum", {"k": 1}),
        ("noisy-or", {}),
        ("trust-order", {"order": ["dns", "beaconing"]}),
        ("trust-order", {}),
        ("worst", {"max_age": "2s"}),
        ("noisy-or", {"allow": ["* 1", "fingerprint 2"], "max_age": "1s"}),
    )
]
"""Every policy there is, with options that make a difference, its own and those that every policy takes."""

few = st.integers(0, 3)
observations: st.SearchStrategy[Observation] = st.builds(
    lambda n: factories.observation(n, flags=("clock",) if n % 5 == 4 else ()), st.integers(0, 12)
)
analyses: st.SearchStrategy[Analysis] = st.builds(
    factories.analysis,
    few,
    detector=st.sampled_from(["beaconing", "dns", "person:ada", "person:kim"]),
    target=st.sampled_from([None, "a", "b"]),
    verdict=st.sampled_from(VERDICTS),
    score=st.sampled_from([0, 300_000, 999_999, 1_000_000]),
    confidence=st.sampled_from([0, 500_000, 1_000_000]),
    at=st.none() | few.map(lambda n: n * SECOND),
    provisional=st.booleans(),
    on=st.lists(observations, max_size=2).map(tuple),
)
records: st.SearchStrategy[list[Kept]] = st.lists(observations | analyses, max_size=5, unique_by=lambda one: one.id)
branches: st.SearchStrategy[list[Branch]] = st.lists(
    st.builds(lambda held, author: branch_of(factories.branch(*held, author=author)), records, st.sampled_from("ab")),
    max_size=6,
)


@st.composite
def deliveries(draw: st.DrawFn, given: list[Branch]) -> list[list[Branch]]:
    """The same branches in some order, some of them again, cut into batches somehow."""
    again = draw(st.lists(st.sampled_from(given), max_size=4)) if given else []
    order = draw(st.permutations([*given, *again]))
    cuts = sorted(draw(st.sets(st.integers(0, len(order)), max_size=4)))
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def merged(
    batches: Sequence[Sequence[Branch]], policy: BoundPolicy, now: int = factories.START
) -> tuple[Summary, Assessment | None]:
    """What a merger makes of these batches, one after the other."""
    summary, assessment = empty(*KEY), None
    known: set[str] = set()
    for batch in batches:
        planned = plan(KEY, summary, batch, known, Maker(policy, MERGER, now))
        if planned is not None:
            summary, assessment = planned.summary, planned.versions[-1].assessment
            known.update(one.id for version in planned.commit.versions for one in version.contents)
    return summary, assessment
