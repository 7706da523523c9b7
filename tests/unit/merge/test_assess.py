"""Policies and the assessment that is made of what they decide."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pydantic import BaseModel

from merge.assess import assess
from merge.policies.contract import Decision, takes
from merge.policies.registry import WORST, BoundPolicy, Chosen, PolicyChoice, Registry, policies
from schemas.assessment import SHOWN
from schemas.digests import set_digest
from schemas.errors import PluginError, SettingsError
from tests.factories import analysis

MANY = [analysis(n, score=n * 10_000) for n in range(40)]


def trusting(*order: str) -> BoundPolicy:
    return Registry().bind(Chosen("trust-order", {"order": list(order)}))


def test_worst_takes_the_worst_verdict_and_the_largest_weight() -> None:
    malicious = analysis(1, verdict="malicious", score=500_000, confidence=500_000)
    suspicious = analysis(2, verdict="suspicious", score=900_000, confidence=900_001)
    harmless = analysis(3, verdict="benign", score=0)
    got = assess([harmless, suspicious, malicious], None, WORST)
    assert (got.verdict, got.score, got.severity) == ("malicious", 810_000, "high")
    assert got.counted == tuple(sorted([malicious.id, suspicious.id]))
    assert (got.policy, got.options, got.review) == ("worst", {}, ())


def test_unknown_is_no_all_clear() -> None:
    assert assess([analysis(1, verdict="benign"), analysis(2, verdict="unknown")], None, WORST).verdict == "unknown"


def test_nothing_known_is_unknown() -> None:
    got = assess([], None, WORST)
    assert (got.verdict, got.score, got.counted, got.counted_total) == ("unknown", 0, (), 0)


def test_the_first_trusted_detector_with_an_opinion_decides_alone() -> None:
    said = [
        analysis(1, detector="dns", verdict="unknown", score=0),
        analysis(2, detector="person", verdict="benign", score=100_000),
        analysis(3, detector="person", verdict="unknown", score=900_000),
        analysis(4, detector="beaconing", verdict="malicious", score=990_000),
    ]
    got = assess(said, None, trusting("dns", "person", "beaconing"))
    assert (got.verdict, got.score, got.counted) == ("benign", 100_000, (said[1].id,))
    assert got.options == {"order": ["dns", "person", "beaconing"]}
    assert assess(said, None, trusting("sigma", "beaconing")).verdict == "malicious"
    assert assess(said, None, trusting("sigma")).verdict == "unknown"


def test_an_assessment_shows_the_heaviest_and_stands_for_all() -> None:
    got = assess(MANY, None, BoundPolicy("all", lambda seen, newest, options: Decision("suspicious", 1, seen), {}))
    assert got.counted == tuple(sorted(one.id for one in MANY[-SHOWN:]))
    assert (got.counted_total, got.counted_digest) == (40, set_digest(one.id for one in MANY))


def test_equal_weights_are_shown_by_id() -> None:
    same = [analysis(n) for n in range(40)]
    assert assess(same, None, WORST).counted == tuple(sorted(one.id for one in same))[:SHOWN]


def test_contradictions_about_a_target_are_listed_whatever_the_policy_decides() -> None:
    said = [
        analysis(1, target="t", verdict="benign", detector="person"),
        analysis(2, target="t", verdict="malicious"),
        analysis(3, target="t", verdict="suspicious"),
        analysis(4, target="u", verdict="malicious"),
        analysis(5, verdict="benign"),
    ]
    for policy in (WORST, trusting("person")):
        got = assess(said, None, policy)
        assert [(one.target, one.analyses) for one in got.conflicts] == [("t", tuple(sorted([said[0].id, said[1].id])))]
        assert (got.conflicts_total, got.review) == (1, ("conflict",))


def test_a_long_conflict_shows_both_sides() -> None:
    benign = [analysis(n, target="t", verdict="benign", score=1_000_000) for n in range(30)]
    malicious = [analysis(n, target="t", verdict="malicious", score=1, detector="dns") for n in range(3)]
    (conflict,) = assess([*benign, *malicious], None, WORST).conflicts
    assert len(conflict.analyses) == SHOWN
    assert {one.id for one in malicious} <= set(conflict.analyses)


def test_many_conflicts_are_counted_and_the_first_are_shown() -> None:
    said = [analysis(n, target=f"t{n:02}", verdict="benign") for n in range(20)]
    said += [analysis(n, target=f"t{n:02}", verdict="malicious", detector="dns") for n in range(20)]
    got = assess(said, None, WORST)
    assert [one.target for one in got.conflicts] == [f"t{n:02}" for n in range(SHOWN)]
    assert got.conflicts_total == 20


def _raising(seen: Any, newest: Any, options: Any) -> Decision:
    raise KeyError(newest)


def _leaving(seen: Any, newest: Any, options: Any) -> Decision:
    raise SystemExit(1)


RUBBISH: list[Any] = [
    None,
    "malicious",
    ("malicious", 1),
    ("terrible", 1, ()),
    ("malicious", 0.5, ()),
    ("malicious", True, ()),
    ("malicious", -1, ()),
    ("malicious", 1_000_001, ()),
    ("malicious", 1, (analysis(99),)),
    ("malicious", 1, 7),
    ("malicious", 1, ("ana_1",)),
    ([], 1, ()),
]


@pytest.mark.parametrize(
    "function", [_raising, _leaving, *[lambda seen, newest, options, said=said: said for said in RUBBISH]]
)
def test_a_policy_that_breaks_its_contract_costs_its_own_word_only(function: Any) -> None:
    """I3, I9: `worst` decides instead, nothing is dropped, and a person is asked to look."""
    got = assess(MANY, 5, BoundPolicy("mine", function, {"a": 1}))
    assert got.model_copy(update={"review": (), "policy": "worst", "options": {}}) == assess(MANY, 5, WORST)
    assert (got.review, got.policy, got.options) == (("policy_failed",), "mine", {"a": 1})


def test_a_policy_cannot_change_its_options_for_the_next_case() -> None:
    def greedy(seen: Any, newest: Any, options: Any) -> Decision:
        options["a"] += 1
        return Decision("unknown", options["a"], ())

    bound = BoundPolicy("greedy", greedy, {"a": 1})
    assert assess([], None, bound) == assess([], None, bound)


def test_a_policy_sees_current_analyses_in_id_order_and_the_newest_event_time() -> None:
    def looking(seen: Any, newest: Any, options: Any) -> Decision:
        assert [one.id for one in seen] == sorted(one.id for one in MANY)
        return Decision("unknown", newest, ())

    assert assess(reversed(MANY), 7, BoundPolicy("looking", looking, {})).score == 7


class Limit(BaseModel, extra="forbid"):
    limit: int = 3


@takes(Limit)
def limited(seen: Any, newest: Any, options: Any) -> Decision:
    return Decision("unknown", options["limit"], ())


def test_options_are_checked_and_filled_in_by_the_policys_model() -> None:
    registry = Registry({"limited": limited})
    assert registry.bind(Chosen("limited")).options == {"limit": 3}
    with pytest.raises(
        SettingsError, match=r"it has no option `limits`; did you mean `limit`\? It has: allow, limit, max_age$"
    ):
        registry.bind(Chosen("limited", {"limits": 4}))
    with pytest.raises(SettingsError, match="option `limit`: it must be a whole number") as caught:
        registry.bind(Chosen("limited", {"limit": "canary"}))
    assert "canary" not in str(caught.value)


def test_unknown_policies_and_options_are_named() -> None:
    with pytest.raises(SettingsError, match="no policy `best`; known are noisy-or, quorum, trust-order, worst"):
        Registry().bind(Chosen("best"))
    with pytest.raises(SettingsError, match=r"it has no option `order`; it has: allow, max_age$"):
        Registry().bind(Chosen("worst", {"order": []}))


def test_a_plug_in_that_does_not_load_costs_only_itself() -> None:
    found = {
        name: EntryPoint(name, value, "casetape.policies")
        for name, value in (("gone", "no.such.module:x"), ("number", "merge.assess:SHOWN"), ("fine", f"{__name__}:_"))
    }
    registry = Registry(found={**found, "second": EntryPoint("second", "merge.policies.worst:worst", "g")})
    assert registry.names == ["fine", "gone", "noisy-or", "number", "quorum", "second", "trust-order", "worst"]
    assert registry.bind(Chosen("second")).function is WORST.function
    with pytest.raises(PluginError, match="policy `gone` cannot be loaded: ModuleNotFoundError"):
        registry.bind(Chosen("gone"))
    with pytest.raises(PluginError, match="policy `number` is no function"):
        registry.bind(Chosen("number"))


def test_the_choice_goes_by_tenant_then_by_type() -> None:
    choice = PolicyChoice(
        Chosen("d"),
        {
            ("acme", "host"): Chosen("acme host"),
            ("acme", None): Chosen("acme"),
            (None, "host"): Chosen("host"),
        },
    )
    assert [choice.of(*case).name for case in (("acme", "host:1"), ("acme", "user:1"), ("acme", "plain"))] == [
        "acme host",
        "acme",
        "acme",
    ]
    assert [choice.of(*case).name for case in (("acme-corp", "host:1"), ("other", "host"), ("x", "user:2"))] == [
        "host",
        "d",
        "d",
    ]


def test_a_wrong_choice_is_an_error_at_the_start() -> None:
    of = policies(Registry(), PolicyChoice(by={("acme", None): Chosen("trust-order", {"order": ["dns"]})}))
    assert (of("acme", "host:1").name, of("other", "host:1").name) == ("trust-order", "worst")
    for place, words in (
        (("acme", None), "tenant acme"),
        ((None, "host"), "subject type host"),
        (("acme", "host"), "tenant acme, subject type host"),
    ):
        with pytest.raises(SettingsError, match=rf"setting `policies` \({words}\): there is no policy `nothing`"):
            policies(Registry(), PolicyChoice(by={place: Chosen("nothing")}))
