"""`quorum` and `noisy-or`: known values, and what holds of any analyses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merge.assess import assess
from merge.policies.contract import Decision
from merge.policies.noisy_or import noisy_or
from merge.policies.quorum import quorum
from merge.policies.registry import WORST, Chosen, Registry
from merge.policies.worst import worst
from schemas.analysis import Analysis
from schemas.errors import SettingsError
from schemas.scales import MILLION
from schemas.verdicts import VERDICTS, Verdict, rank
from tests.factories import analysis

DETECTORS = ["beaconing", "dns", "ioc", "person:ada"]
millionths = st.integers(0, MILLION)
one_of_many = st.builds(
    analysis,
    st.integers(0, 3),
    detector=st.sampled_from(DETECTORS),
    verdict=st.sampled_from(VERDICTS),
    score=millionths,
    confidence=millionths,
)
many = st.lists(one_of_many, max_size=12, unique_by=lambda one: one.id)
ks = st.integers(1, 5)


def said(detector: str, verdict: Verdict, score: int, n: int = 0) -> Analysis:
    return analysis(n, detector=detector, verdict=verdict, score=score)


def agreed(analyses: Sequence[Analysis], k: int = 2) -> Decision:
    return quorum(analyses, None, {"k": k})


def combined(analyses: Sequence[Analysis]) -> Decision:
    return noisy_or(analyses, None, {})


def seen(decision: Decision) -> tuple[str, int, set[str]]:
    """A decision without the order of what it rests on."""
    return decision.verdict, decision.score, {one.id for one in decision.counted}


BEACON = said("beaconing", "malicious", 900_000)
TUNNEL = said("dns", "suspicious", 600_000)
LISTED = said("ioc", "unknown", 100_000)
ODD = said("sigma", "suspicious", 500_000)
FAINT = said("beaconing", "malicious", 100_000)
CALM = said("person:ada", "benign", 50_000)


@pytest.mark.parametrize(
    ("analyses", "k", "verdict", "score", "counted"),
    [
        ([], 2, "unknown", 0, []),
        ([BEACON], 2, "unknown", 0, []),
        ([BEACON, said("beaconing", "malicious", 900_000, 1)], 2, "unknown", 0, []),
        ([BEACON, TUNNEL], 2, "suspicious", 600_000, [BEACON, TUNNEL]),
        ([BEACON, TUNNEL, LISTED, CALM], 2, "suspicious", 600_000, [BEACON, TUNNEL]),
        ([BEACON, TUNNEL, LISTED, CALM], 3, "unknown", 100_000, [BEACON, TUNNEL, LISTED]),
        ([BEACON, TUNNEL, LISTED, CALM], 4, "benign", 50_000, [BEACON, TUNNEL, LISTED, CALM]),
        ([BEACON, TUNNEL, LISTED, CALM], 5, "unknown", 0, []),
        ([BEACON, CALM], 2, "benign", 50_000, [BEACON, CALM]),
        # what goes beyond the verdict is rested on, too, however light
        ([FAINT, TUNNEL, ODD, LISTED], 2, "suspicious", 500_000, [FAINT, TUNNEL, ODD]),
    ],
)
def test_quorum_by_hand(analyses: list[Analysis], k: int, verdict: str, score: int, counted: list[Analysis]) -> None:
    assert seen(agreed(analyses, k)) == (verdict, score, {one.id for one in counted})


def test_verdict_and_score_of_a_quorum_may_come_from_different_detectors() -> None:
    loud = said("beaconing", "malicious", 100_000)
    sure = [said("dns", "unknown", 800_000), said("ioc", "unknown", 700_000)]
    also = said("sigma", "malicious", 50_000)
    assert seen(agreed([loud, *sure, also])) == ("malicious", 700_000, {one.id for one in (loud, *sure, also)})


@pytest.mark.parametrize(
    ("analyses", "verdict", "score", "counted"),
    [
        ([], "unknown", 0, []),
        ([CALM, LISTED], "unknown", 0, [LISTED]),
        ([TUNNEL], "suspicious", 600_000, [TUNNEL]),
        # 1 - 0.1 * 0.4
        ([BEACON, TUNNEL], "malicious", 960_000, [BEACON, TUNNEL]),
        # of one detector only the largest: 1 - 0.1 * 0.4 again
        ([BEACON, TUNNEL, said("beaconing", "suspicious", 800_000, 1)], "malicious", 960_000, [BEACON, TUNNEL]),
        # benign and unknown ones add nothing, however heavy
        ([BEACON, said("dns", "benign", 1_000_000), said("ioc", "unknown", 999_999)], "malicious", 900_000, [BEACON]),
        # 1 - (1 - 0.333333)^2 = 0.555555111111
        ([said("a", "suspicious", 333_333), said("b", "suspicious", 333_333)], "suspicious", 555_555, None),
        # 1 - 10^-12: nearly sure is not sure
        ([said("a", "suspicious", 999_999), said("b", "suspicious", 999_999)], "suspicious", 999_999, None),
        ([said("a", "suspicious", 1_000_000), said("b", "suspicious", 1)], "suspicious", 1_000_000, None),
        ([said("a", "suspicious", 0), said("b", "malicious", 0)], "malicious", 0, [said("b", "malicious", 0)]),
    ],
)
def test_noisy_or_by_hand(analyses: list[Analysis], verdict: str, score: int, counted: list[Analysis] | None) -> None:
    expected = {one.id for one in (analyses if counted is None else counted)}
    assert seen(combined(analyses)) == (verdict, score, expected)


def test_many_witnesses_are_exact() -> None:
    """Of 400 the product of doubles would have lost its last digits; whole numbers have not."""
    witnesses = [said(f"d{n}", "suspicious", 1_000 + n) for n in range(400)]
    exact = 1 - prod(1 - Fraction(one.weight, MILLION) for one in witnesses)
    assert combined(witnesses).score == int(exact * MILLION)


@given(many, ks)
def test_a_quorum_of_one_is_worst(analyses: list[Analysis], k: int) -> None:
    assert seen(agreed(analyses, 1)) == seen(worst(analyses, None, {}))


@given(st.data(), many, ks)
def test_neither_order_nor_repeats_make_a_difference(data: st.DataObject, analyses: list[Analysis], k: int) -> None:
    again = data.draw(st.permutations([*analyses, *data.draw(st.permutations(analyses))[:3]]))
    assert seen(agreed(again, k)) == seen(agreed(analyses, k))
    assert seen(combined(again)) == seen(combined(analyses))


@given(many, one_of_many, ks)
def test_one_more_analysis_never_makes_a_case_milder(analyses: list[Analysis], more: Analysis, k: int) -> None:
    """Where enough have spoken at all: before that a quorum says unknown, which `benign` from all is milder than."""
    assume(more.id not in {one.id for one in analyses})
    before, after = combined(analyses), combined([*analyses, more])
    assert after.score >= before.score
    assert not analyses or rank(after.verdict) >= rank(before.verdict)
    assert agreed([*analyses, more], k).score >= agreed(analyses, k).score
    if len({one.detector for one in analyses}) >= k:
        assert rank(agreed([*analyses, more], k).verdict) >= rank(agreed(analyses, k).verdict)


@given(many, st.integers(0, 11), st.integers(1, 1_000), st.integers(1, 3), ks)
def test_one_heavier_or_worse_analysis_never_makes_a_case_milder(
    analyses: list[Analysis], place: int, more: int, worse: int, k: int
) -> None:
    assume(place < len(analyses))
    old = analyses[place]
    verdict = VERDICTS[min(rank(old.verdict) + worse, len(VERDICTS) - 1)]
    changed = {"verdict": verdict, "score": min(MILLION, old.score + more), "confidence": MILLION}
    then = [*analyses[:place], old.model_copy(update=changed).identified(), *analyses[place + 1 :]]
    for decide in (combined, lambda found: agreed(found, k)):
        before, after = decide(analyses), decide(then)
        assert (rank(after.verdict), after.score) >= (rank(before.verdict), before.score)
        assert after.score >= before.score


@given(many)
def test_a_larger_quorum_is_never_worse(analyses: list[Analysis]) -> None:
    detectors = len({one.detector for one in analyses})
    found = [agreed(analyses, k) for k in range(1, detectors + 1)]
    for smaller, larger in pairwise(found):
        assert larger.score <= smaller.score
        assert rank(larger.verdict) <= rank(smaller.verdict)
    assert seen(agreed(analyses, detectors + 1)) == ("unknown", 0, set())


@given(many)
def test_noisy_or_lies_between_the_heaviest_and_the_sum(analyses: list[Analysis]) -> None:
    found = combined(analyses)
    weights: dict[str, int] = {}
    for one in analyses:
        if one.verdict in ("suspicious", "malicious"):
            weights[one.detector] = max(one.weight, weights.get(one.detector, 0))
    assert max(weights.values(), default=0) <= found.score <= min(MILLION, sum(weights.values()))
    assert (found.score == MILLION) == (MILLION in weights.values())
    assert found.verdict == worst(analyses, None, {}).verdict


@given(many, ks)
def test_what_it_rests_on_decides_the_same_alone(analyses: list[Analysis], k: int) -> None:
    for decide in (combined, lambda found: agreed(found, k)):
        found = decide(analyses)
        assert {one.id for one in found.counted} <= {one.id for one in analyses}
        if found.counted:
            again = decide(sorted(found.counted, key=lambda one: one.id))
            assert (again.verdict, again.score) == (found.verdict, found.score)


def test_the_options_of_quorum() -> None:
    registry = Registry()
    assert registry.bind(Chosen("quorum")).options == {"k": 2}
    assert assess([], None, registry.bind(Chosen("quorum", {"k": 3}))).options == {"k": 3}
    for wrong in (0, 1001, "2", True, 1.5):
        with pytest.raises(SettingsError, match="policy `quorum`: option `k`"):
            registry.bind(Chosen("quorum", {"k": wrong}))
    with pytest.raises(SettingsError, match="policy `noisy-or`: it has no option `k`"):
        registry.bind(Chosen("noisy-or", {"k": 2}))
    assert assess([BEACON], None, registry.bind(Chosen("noisy-or"))).options == assess([BEACON], None, WORST).options
