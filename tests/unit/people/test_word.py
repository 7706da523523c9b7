"""A person's word as an analysis: what it says, in whose name, about what, resting on what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from engines.log import LogRecord
from merge.branches import read_branch
from schemas.analysis import evidence_of
from schemas.errors import UsageError
from schemas.keys import CaseKey
from schemas.persons import detector_of, looks_like_a_person, person_of, valid_person
from schemas.version import genesis
from tests import factories
from tests.strategies import labels
from workers.people.word import SCORES, Word, branch_of, near, newest_said, spoken

CASE = CaseKey(factories.TENANT, factories.SUBJECT)
PARENT = genesis(*CASE).version_id()
NOW = factories.START + 7
NOTHING = evidence_of([])


def word(**fields: Any) -> Word:
    chosen: dict[str, Any] = {"by": "ada", "verdict": "malicious", "why": "I saw it\nmyself"} | fields
    return Word(**chosen)


def test_what_it_says() -> None:
    evidence = evidence_of([(factories.observation(1).id, factories.START)])
    one = spoken(CASE, word(), (), evidence, NOW)
    assert one.proven() is one
    assert (one.detector, one.fingerprint, one.target) == ("person:ada", "case", None)
    assert (one.verdict, one.score, one.confidence, one.severity) == ("malicious", 900_000, 1_000_000, "high")
    assert (one.title, one.text, one.at, one.evidence) == ("ada: I saw it", "I saw it\nmyself", NOW, evidence)
    assert not one.provisional


def test_how_bad_a_verdict_is_by_itself() -> None:
    assert {verdict: spoken(CASE, word(verdict=verdict), (), NOTHING, NOW).score for verdict in SCORES} == SCORES
    given_ = spoken(CASE, word(score=123_456, confidence=1), (), NOTHING, NOW)
    assert (given_.score, given_.confidence) == (123_456, 1)


def test_its_target_is_that_of_what_it_is_about() -> None:
    older = factories.analysis(1, target="t1", at=factories.START)
    newer = factories.analysis(1, detector="dns", target="t2", at=factories.START + 1)
    silent = factories.analysis(1, detector="ioc", at=factories.START + 2)
    assert spoken(CASE, word(), [newer, older, silent], NOTHING, NOW).target == "t2"
    assert spoken(CASE, word(), [silent], NOTHING, NOW).target is None


def test_a_request_is_told_from_another_by_its_parameters() -> None:
    plain, one, other = (spoken(CASE, word(request_id=name), (), NOTHING, NOW) for name in (None, "r1", "r2"))
    assert len({plain.id, one.id, other.id}) == 3
    assert plain.model_copy(update={"id": "", "parameters": ""}) == one.model_copy(update={"id": "", "parameters": ""})


def test_its_branch_is_one_that_the_merger_takes() -> None:
    one = spoken(CASE, word(), (), NOTHING, NOW)
    version = branch_of(one, "ada", PARENT, NOW)
    branch = read_branch(LogRecord(0, factories.CASE, version.encode(), NOW))
    assert branch.header.parents == (PARENT,)
    assert (branch.header.author.kind, branch.header.author.name) == ("person", "ada")
    assert [each.id for each in branch.contents] == [one.id]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"by": ""}, "the name of whoever says it"),
        ({"by": " ada"}, "the name of whoever says it"),
        ({"by": "a\nda"}, "the name of whoever says it"),
        ({"by": "a" * 121}, "the name of whoever says it"),
        ({"by": "\udc80"}, "the name of whoever says it"),
        ({"why": " \n"}, "--why: there is nothing in it"),
        ({"why": "x" * 65_537}, "--why: 65537 characters; at most 65536 fit"),
        ({"why": "x\udc80"}, "--why: it is not UTF-8"),
        ({"fingerprint": ""}, "--fingerprint: there is nothing in it"),
        ({"fingerprint": "\udc80"}, "--fingerprint: it is not UTF-8"),
        ({"score": -1}, "the score is not a number from 0 to 1"),
        ({"confidence": 1_000_001}, "the confidence is not a number from 0 to 1"),
    ],
)
def test_what_cannot_be_said(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        word(**fields)


def test_the_longest_word_fits() -> None:
    longest = word(by="a" * 120, why="é" * 65_536)
    one = spoken(CASE, longest, (), NOTHING, NOW)
    assert (len(one.title), len(one.detector)) == (512, 127)
    read_branch(LogRecord(0, factories.CASE, branch_of(one, longest.by, PARENT, NOW).encode(), NOW))


@given(labels)
def test_whoever_has_a_name_signs_with_it(name: str) -> None:
    assert person_of(detector_of(name)) == name
    assert looks_like_a_person(detector_of(name))
    assert not valid_person(name) or name.strip() == name


def test_who_is_a_person() -> None:
    names = ["person:ada", "person:", "Person:ada", "PERSON:x", "person", "persons:x", "aperson:x", ""]
    assert [person_of(name) for name in names] == ["ada", "", None, None, None, None, None, None]
    assert [looks_like_a_person(name) for name in names] == [True, True, True, True, False, False, False, False]


def test_the_newest_that_any_person_says() -> None:
    said = [factories.analysis(1, detector=f"person:{name}", at=at) for name, at in (("a", 5), ("b", 9), ("c", None))]
    assert newest_said([*said, factories.analysis(1, at=50)]) == 9
    assert newest_said([factories.analysis(1)]) is None


KNOWN = ["beacon 10.0.0.5 -> 203.0.113.9:443", "beacon 10.0.0.5 -> 203.0.113.9:80", "many names", "tunnel t.example"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("203.0.113.9", KNOWN[:2]),
        ("beacon 10.0.0.5 -> 203.0.113.9:443 ", KNOWN[:1]),
        ("MANY", ["many names"]),
        ("tunel t.exmple", ["tunnel t.example"]),
        ("###", []),
    ],
)
def test_which_were_probably_meant(wanted: str, meant: list[str]) -> None:
    assert list(near(wanted, KNOWN))[: len(meant)] == meant
    assert len(near(wanted, KNOWN)) <= 3
    if not meant:
        assert near(wanted, KNOWN) == []
