"""The options that every policy takes: how they are written and recorded, and what a pattern matches."""

from __future__ import annotations

import fnmatch
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from merge.assess import assess
from merge.policies.common import UNSET, CommonOptions, common_of
from merge.policies.contract import Decision, takes
from merge.policies.registry import WORST, Chosen, Registry
from merge.policies.worst import worst
from schemas.errors import PluginError, SettingsError
from schemas.scales import SECOND
from tests.unit.merge.narrowing import NAMES, NEW, OLD, OWN, assessed, bound


@pytest.mark.parametrize(
    ("written", "recorded", "seconds"),
    [
        (90, "90s", 90),
        (120, "2m", 120),
        ("3600s", "1h", 3600),
        ("48h", "2d", 172_800),
        ("1w", "7d", 604_800),
        ("36500d", "36500d", 3_153_600_000),
    ],
)
def test_an_age_is_recorded_in_one_way(written: object, recorded: str, seconds: int) -> None:
    policy = bound(max_age=written)
    assert policy.recorded == {"max_age": recorded}
    assert policy.common.age == seconds * SECOND


@pytest.mark.parametrize("wrong", [0, "0d", -1, "-1d", "1.5h", 1.5, "d", "1 d", "1y", True, "36501d", [], "\u0661d"])
def test_what_is_no_age(wrong: object) -> None:
    with pytest.raises(SettingsError, match="policy `worst`: option `max_age`: ") as caught:
        bound(max_age=wrong)
    assert "Value error" not in str(caught.value)


def test_a_list_is_recorded_in_one_way() -> None:
    assert bound(allow="b*").recorded == {"allow": ["b*"]}
    assert bound(allow=["b", "a", "b"]).recorded == {"allow": ["a", "b"]}
    assert bound(allow=["a", "b"], max_age="1d") == bound(max_age="24h", allow=["b", "a"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([""], "1 to 1024 characters"),
        (["x" * 1025], "1 to 1024 characters"),
        ([f"f{n}" for n in range(201)], "at most 200"),
        ([f"{n:03}" + "x" * 1000 for n in range(20)], "16384 characters in all"),
        (7, "it must be a list"),
        ([7], "it must be text"),
    ],
)
def test_what_is_no_list(wrong: object, says: str) -> None:
    with pytest.raises(SettingsError, match=rf"policy `worst`: option `allow.*{says}"):
        bound(allow=wrong)


def test_options_that_are_not_set_change_nothing_that_is_written() -> None:
    for name in NAMES:
        plain = Registry().bind(Chosen(name, OWN.get(name, {})))
        assert bound(name, max_age=None) == bound(name, allow=[]) == plain
        assert assess([], None, plain).options == plain.options
    assert assess([], None, WORST).digest() == assess([], None, bound()).digest()


@pytest.mark.parametrize(
    ("pattern", "fingerprint", "allowed"),
    [
        ("beacon 10.0.0.5 -> 203.0.113.9:443", "beacon 10.0.0.5 -> 203.0.113.9:443", True),
        ("beacon 10.0.0.5 -> 203.0.113.9:44", "beacon 10.0.0.5 -> 203.0.113.9:443", False),
        ("beacon 10.0.0.5 -> 203.0.113.9:443", "beacon 10.0.0.5 -> 203.0.113.9:44", False),
        ("beacon * -> 203.0.113.?:*", "beacon 10.0.0.5 -> 203.0.113.9:443", True),
        ("beacon * -> 203.0.113.?:*", "beacon 10.0.0.5 -> 203.0.113.99:443", False),
        ("beacon 10.0.0.5", "beacon 10x0.0.5", False),
        ("*.example.org", "a/b.example.org", True),
        ("*.example.org", "a.EXAMPLE.org", False),
        ("[2001:db8::1]:*", "[2001:db8::1]:443", True),
        ("[ab]", "a", False),
        ("*", "", True),
        ("**", "anything\nat all", True),
        ("?", "\n", True),
        ("a*a", "a", False),
        ("a*b*c", "a-b-b-c-c", True),
        ("*ab", "aab", True),
        ("*ab*b", "ab", False),
        ("what? *", "what? *", True),
        (r"C:\*", r"C:\x", True),
    ],
)
def test_which_fingerprints_a_list_allows(pattern: str, fingerprint: str, allowed: bool) -> None:
    assert CommonOptions(allow=(pattern,)).allows(fingerprint) is allowed
    assert CommonOptions(allow=("another", "other*", pattern)).allows(fingerprint) is allowed


@given(st.text("ab*?\\.|(", min_size=1, max_size=8), st.text("ab\\.|(", max_size=10))
def test_globs_are_the_shells_without_brackets(pattern: str, fingerprint: str) -> None:
    expected = re.fullmatch(fnmatch.translate(pattern), fingerprint) is not None
    assert CommonOptions(allow=(pattern,)).allows(fingerprint) is expected


def test_a_glob_of_many_stars_is_decided_in_no_time() -> None:
    """One that backtracks would not end."""
    assert not CommonOptions(allow=("a*" * 500 + "b",)).allows("a" * 1024)


class Own(BaseModel, extra="forbid"):
    allow: int = 3


class Limit(BaseModel, extra="forbid"):
    limit: int = 3


@takes(Own)
def clashing(seen: Any, newest: Any, options: Any) -> Decision:
    return worst(seen, newest, {})


@takes(Limit)
def listening(seen: Any, newest: Any, options: Any) -> Decision:
    assert set(options) == {"limit"}
    return worst(seen, newest, {})


def test_a_plug_ins_policy_takes_them_too_and_sees_none_of_them() -> None:
    registry = Registry({"listening": listening})
    policy = registry.bind(Chosen("listening", {"limit": 4, "max_age": "5d", "allow": "fingerprint 9"}))
    got = assessed([OLD, NEW], policy)
    assert (got.verdict, got.review) == ("suspicious", ())
    assert got.options == {"limit": 4, "max_age": "5d", "allow": ["fingerprint 9"]}
    with pytest.raises(SettingsError, match="policy `listening`: it has no option `maxage`; did you mean `max_age`"):
        registry.bind(Chosen("listening", {"maxage": "5d"}))


def test_no_policy_has_an_option_of_its_own_that_is_called_so() -> None:
    with pytest.raises(PluginError, match="policy `clashing` has an option `allow` of its own"):
        Registry({"clashing": clashing}).bind(Chosen("clashing"))


def test_what_an_assessment_records_gives_the_same_again() -> None:
    policy = bound("quorum", max_age="5d", allow=["a*"])
    assert common_of(assessed([OLD, NEW], policy).options) == policy.common
    assert common_of({}) == common_of({"k": 2}) == UNSET
    assert common_of({"allow": {"of": "another meaning"}, "max_age": 1.5}) == UNSET
