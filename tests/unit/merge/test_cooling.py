"""What the options that every policy takes leave out, and how a case cools down and warms up again."""

from __future__ import annotations

import fnmatch
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge.plan import Maker, reassessment
from merge.policies.common import UNSET, CommonOptions, dismissed, left_out
from merge.policies.contract import Decision
from merge.policies.registry import WORST, Chosen, Registry
from merge.state import State, add, current
from merge.summary import summarise
from schemas.analysis import Analysis
from schemas.scales import DAY, SECOND
from tests.factories import START, analysis
from tests.unit.merge import cases
from tests.unit.merge.narrowing import NAMES, NEW, OLD, OWN, assessed, bound

UNTIMED = analysis(3, verdict="suspicious", score=100_000, at=None)


def person(name: str = "ada", n: int = 1, **fields: Any) -> Analysis:
    """A person's word on fingerprint `n`, said long after all that detectors saw."""
    chosen: dict[str, Any] = {"at": START + 900 * DAY, "verdict": "benign", "score": 0} | fields
    return analysis(n, detector=f"person:{name}", **chosen)


@pytest.mark.parametrize(
    ("age", "out"),
    [("9d", {OLD.id: "too_old"}), ("10d", {}), ("864001s", {}), ("863999s", {OLD.id: "too_old"}), (None, {})],
)
def test_what_is_too_old(age: str | None, out: dict[str, str]) -> None:
    """Up to the age itself it counts; without a time it is not old."""
    assert left_out([OLD, NEW, UNTIMED], NEW.at, CommonOptions(max_age=age)) == out
    assert left_out([OLD, NEW, UNTIMED], None, CommonOptions(max_age=age)) == {}


def test_a_persons_word_makes_nothing_old_and_does_not_age() -> None:
    """Its time is that of the request: of a log of last year everything would be old at once."""
    policy = bound(max_age="20d")
    asked = person(n=9)
    assert assessed([OLD, NEW, asked], policy).verdict == "malicious"
    ancient = person(verdict="malicious", score=800_000, at=START - 900 * DAY)
    assert assessed([NEW, ancient], policy).score == 800_000
    assert summarise(add(State(), [OLD, asked]), 1, "ver_x", 0).newest == OLD.at
    assert summarise(add(State(), [asked]), 1, "ver_x", 0).newest is None


@pytest.mark.parametrize("name", NAMES)
def test_a_case_cools_down_by_age_and_warms_up_again(name: str) -> None:
    policy = bound(name, max_age="5d")
    again = analysis(1, verdict="malicious", score=900_000, at=START + 11 * DAY, target="t")
    assert (assessed([OLD], policy).verdict, assessed([OLD, again, NEW], policy).verdict) == ("malicious", "malicious")
    cool = assessed([OLD, NEW], policy)
    assert (cool.verdict, cool.score, cool.counted) == ("suspicious", 500_000, (NEW.id,))
    assert cool.options == {**OWN.get(name, {}), "max_age": "5d"}


@pytest.mark.parametrize("name", NAMES)
def test_a_case_cools_down_by_a_list(name: str) -> None:
    cool = assessed([OLD, NEW], bound(name, allow=["fingerprint 1"]))
    assert (cool.verdict, cool.score, cool.counted) == ("suspicious", 500_000, (NEW.id,))
    assert assessed([OLD, NEW], bound(name, allow=["fingerprint 3"])).verdict == "malicious"
    assert assessed([OLD, NEW], bound(name, allow=["fing*"])).verdict == "unknown"


@pytest.mark.parametrize("name", NAMES)
def test_a_case_cools_down_by_dismissal_and_warms_up_again(name: str) -> None:
    policy = bound(name)
    cool = assessed([OLD, NEW, person()], policy)
    assert (cool.verdict, cool.score) == ("suspicious", 500_000)
    assert OLD.id not in cool.counted
    later = analysis(1, verdict="malicious", score=950_000, at=START + 800 * DAY)
    other = analysis(1, detector="ioc", fingerprint="fingerprint 1", verdict="malicious", at=START + 800 * DAY)
    still = assessed([OLD, later, other, NEW, person()], policy)
    assert (still.verdict, still.score) == ("suspicious", 500_000), "nor does what comes later count"
    for second_thoughts in (
        person(verdict="unknown", at=START + 901 * DAY),
        person("kim", verdict="suspicious", score=1, at=START + 901 * DAY),
    ):
        assert assessed([OLD, NEW, person(), second_thoughts], policy).verdict == "malicious"
    too_soon = person("kim", verdict="unknown", at=START + 899 * DAY)
    assert assessed([OLD, NEW, person(), too_soon], policy).verdict == "suspicious"


def test_the_newest_word_of_any_person_decides_and_silences_no_person() -> None:
    ada, kim = person(), person("kim", verdict="malicious", score=700_000, at=START + 899 * DAY)
    assert dismissed([OLD, ada, kim]) == {"fingerprint 1"}
    assert left_out([OLD, NEW, ada, kim], NEW.at, UNSET) == {OLD.id: "dismissed"}
    both = assessed([OLD, NEW, ada, kim], WORST)
    assert (both.verdict, both.score, both.counted) == ("malicious", 700_000, (kim.id,))


def test_neither_age_nor_list_silences_a_person() -> None:
    word = person(verdict="malicious", score=700_000, at=START)
    got = assessed([OLD, NEW, word], bound(allow="fingerprint 1", max_age="1d"))
    assert (got.verdict, got.score) == ("malicious", 700_000)


def test_a_word_on_the_whole_case_dismisses_nothing() -> None:
    whole = person(fingerprint="case")
    detected = analysis(fingerprint="case", verdict="malicious")
    assert dismissed([whole, detected]) == set()
    assert assessed([OLD, whole, detected], WORST).verdict == "malicious"


def test_only_what_is_signed_by_a_person_dismisses() -> None:
    for detector in ("person", "Person:ada", "dns", "aperson:ada"):
        assert dismissed([analysis(1, detector=detector, verdict="benign")]) == set()


def test_a_contradiction_that_does_not_count_keeps_no_case_in_review() -> None:
    benign = analysis(4, detector="dns", verdict="benign", score=0, target="t", at=START + 10 * DAY)
    disputed = [OLD, benign]
    assert assessed(disputed, WORST).review == ("conflict",)
    for settled in (
        assessed(disputed, bound(max_age="5d")),
        assessed(disputed, bound(allow=["fingerprint 1"])),
        assessed([*disputed, person()], WORST),
        assessed([*disputed, person(target="t")], WORST),
    ):
        assert (settled.review, settled.conflicts, settled.conflicts_total) == ((), (), 0)


def test_persons_contradict_detectors_and_each_other() -> None:
    """A dismissed fingerprint is settled; another one about the same target is not."""
    ada = person(target="t")
    elsewhere = analysis(5, detector="ioc", verdict="malicious", target="t")
    kim = person("kim", verdict="malicious", score=1, target="t", at=START)
    assert assessed([OLD, ada, elsewhere], WORST).conflicts[0].analyses == tuple(sorted([ada.id, elsewhere.id]))
    assert assessed([OLD, ada, kim], WORST).conflicts[0].analyses == tuple(sorted([ada.id, kim.id]))


def test_the_first_reason_is_named() -> None:
    options = CommonOptions(max_age="1d", allow=("fingerprint 1",))
    assert left_out([OLD, NEW, person()], NEW.at, options) == {OLD.id: "dismissed"}
    assert left_out([OLD, NEW], NEW.at, options) == {OLD.id: "allowed"}


def test_a_policy_that_breaks_is_replaced_on_what_counts() -> None:
    """I9: `worst` decides instead, of what the options leave."""

    def breaking(seen: Any, newest: Any, options: Any) -> Decision:
        raise KeyError

    got = assessed([OLD, NEW], Registry({"breaking": breaking}).bind(Chosen("breaking", {"max_age": "5d"})))
    assert (got.verdict, got.score, got.review) == ("suspicious", 500_000, ("policy_failed",))


def test_what_does_not_count_stays_current() -> None:
    """I3: and `reassess` without the option counts it again."""
    summary = summarise(add(State(), [OLD, NEW]), 1, "ver_x", 0)
    maker = cases.MERGER
    cool, warm = (
        reassessment(cases.KEY, summary, Maker(policy, maker, START)).versions[0].assessment
        for policy in (bound(max_age="5d"), bound())
    )
    assert cool is not None
    assert warm is not None
    assert (cool.verdict, warm.verdict) == ("suspicious", "malicious")
    assert {one.id for one in summary.current.values()} == {OLD.id, NEW.id}


@given(cases.records, st.sampled_from(["1s", "2s", None]), st.sampled_from([(), ("* 1",), ("fingerprint 2", "*3")]))
def test_what_is_left_out_is_what_the_words_say(records: list[Any], age: str | None, allow: tuple[str, ...]) -> None:
    """Against the plainest reading of the rules."""
    options = CommonOptions(max_age=age, allow=allow)
    now = list(current(add(State(), records)).values())
    times = [one.at for one in now if one.at is not None and not one.detector.startswith("person:")]
    newest = max(times, default=None)
    out = left_out(now, newest, options)
    for one in now:
        words = [each for each in now if each.detector.startswith("person:") and each.fingerprint == one.fingerprint]
        last = max(words, key=lambda each: each.order, default=None)
        dismissed_ = last is not None and last.verdict == "benign"
        allowed = any(fnmatch.fnmatchcase(one.fingerprint, pattern) for pattern in allow)
        old = age is not None and one.at is not None and newest is not None and newest - one.at > int(age[0]) * SECOND
        expected = not one.detector.startswith("person:") and (dismissed_ or allowed or old)
        assert (one.id in out) is expected
