"""`casetape judge`: a person's word is an analysis among the others, signed, resting on what that person saw."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.words import CASE, Home


@pytest.fixture
def home(tmp_path: Path, still: Home) -> Home:
    return still.copied(tmp_path)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that nothing is done to."""
    made = Home(tmp_path_factory.mktemp("judge"))
    made.told("bad odd")
    return made


def said(home: Home, detector: str = "person:ada", *args: str) -> list[dict[str, Any]]:
    return [one for one in home.show(CASE, *args)["analyses"] if one["detector"] == detector]


def test_a_word_on_a_fingerprint(home: Home) -> None:
    answer = home.judge("suspicious", "--fingerprint", "word bad", why="seen before\nin May")
    assert {
        *("case", "analysis", "repeated", "queued", "number", "id", "at", "assessment", "counting"),
    } == answer.keys()
    assert (answer["case"], answer["number"], answer["repeated"], answer["queued"]) == (
        f"default/{CASE}",
        2,
        False,
        False,
    )
    (one,) = said(home)
    detected = next(each for each in home.show()["analyses"] if each["fingerprint"] == "word bad")
    assert one["id"] == answer["analysis"]
    assert (one["fingerprint"], one["target"], one["verdict"]) == ("word bad", "host", "suspicious")
    assert (one["score"], one["confidence"]) == (0.6, 1.0)
    assert (one["title"], one["text"]) == ("ada: seen before", "seen before\nin May")
    assert one["evidence"] == detected["evidence"]
    assert (one["version"], one["looking_at"]["number"]) == (2, 1)
    assert one["author"] == {"kind": "person", "name": "ada", "version": ""}
    assert home("cases", "verify", "--json").json["faults"] == []


def test_a_word_on_the_whole_case(home: Home) -> None:
    home.told("something else")
    home.judge("malicious", "--score", "0.95", "--confidence", "0.5")
    (one,) = said(home)
    assert (one["fingerprint"], one["target"], one["score"], one["confidence"]) == ("case", None, 0.95, 0.5)
    inputs = {each["id"] for each in home.show()["inputs"]}
    assert one["evidence"]["total"] == len(inputs) == 2
    assert set(one["evidence"]["sample"]) == inputs


def test_benign_of_the_whole_case_dismisses_nothing(home: Home) -> None:
    assert home.judge("benign")["assessment"]["verdict"] == "malicious"
    assert set(home.left_out().values()) == {None}


def test_what_a_person_was_looking_at_may_be_an_earlier_version(home: Home) -> None:
    home.told("fine")
    answer = home("judge", CASE, "--verdict", "benign", "--why", "x", "--fingerprint", "word fine", "--seen", "1")
    assert (answer.code, answer.out) == (2, "")
    assert "has no analysis `word fine` at version 1" in answer.err
    home.judge("benign", "--seen", "1")
    (one,) = said(home)
    assert (one["version"], one["looking_at"]["number"], one["evidence"]["total"]) == (3, 1, 1)


def test_a_person_can_change_their_mind_and_another_may_differ(home: Home) -> None:
    first = home.judge("malicious", "--fingerprint", "word odd")
    second = home.judge("benign", "--fingerprint", "word odd")
    (one,) = said(home)
    assert one["id"] == second["analysis"]
    assert {each["id"]: each["current"] for each in said(home, "person:ada", "--all")} == {
        first["analysis"]: False,
        second["analysis"]: True,
    }
    assert home.left_out()["words word odd"] == "dismissed"
    home.judge("suspicious", "--fingerprint", "word odd", "--by", "kim")
    assert len(said(home)) == len(said(home, "person:kim")) == 1
    assert home.left_out()["words word odd"] is None, "the newest word of any person counts"


def test_it_is_signed_by_whoever_is_logged_in(home: Home) -> None:
    answer = home("judge", CASE, "--verdict", "unknown", "--why", "no idea", "--json").json
    (one,) = said(home, f"person:{getpass.getuser()}")
    assert (one["id"], one["score"]) == (answer["analysis"], 0.0)


def test_for_people(home: Home) -> None:
    out = home("judge", CASE, "--verdict", "benign", "--why", "x", "--fingerprint", "word bad", "--by", "ada").out
    assert f"default/{CASE}: version 2, with the analysis ana_" in out
    assert all(word in out for word in ("verdict", "malicious", "suspicious", "0.9", "0.5"))
    shown = home("cases", "show", CASE, env={"COLUMNS": "120"}).out
    assert "person:ada: word bad, target host" in shown
    assert "said at 2" in shown
    assert "(not counted: dismissed)" in shown


def test_what_a_dismissal_leaves_out_is_named(home: Home) -> None:
    """And what counts again once it is taken back; in a difference too, which has both where they do not cancel."""
    (gone,) = home.judge("benign", "--fingerprint", "word bad")["counting"]
    assert (gone["fingerprint"], gone["title"], gone["was"], gone["now"]) == (
        *("word bad", "A bad word"),
        *("counts", "dismissed"),
    )
    (back,) = home.judge("unknown", "--fingerprint", "word bad")["counting"]
    assert (back["id"], back["was"], back["now"]) == (gone["id"], "dismissed", "counts")
    assert home("cases", "diff", CASE, "1", "2", "--json").json["counting"] == [gone]
    assert home("cases", "diff", CASE, "1", "3", "--json").json["counting"] == []
    wide = {"COLUMNS": "120"}
    out = home("cases", "diff", CASE, "1", "2", env=wide).out
    assert all(word in out for word in ("A bad word", "words: word bad", "no longer counts: dismissed")), out
    assert "counts again" in home("cases", "diff", CASE, "2", "3", env=wide).out
    again = home("judge", CASE, "--verdict", "benign", "--why", "x", "--fingerprint", "word bad", env=wide).out
    assert "no longer counts: dismissed" in again


def test_what_comes_dismissed_is_named(home: Home) -> None:
    home.judge("benign", "--fingerprint", "word bad")
    home.told("bad again", "2024-02-01")
    (came,) = home("cases", "diff", CASE, "2", "3", "--json").json["counting"]
    assert (came["fingerprint"], came["was"], came["now"]) == ("word bad", None, "dismissed")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([CASE, "--fingerprint", "word bat"], "has no analysis `word bat` at version 1; did you mean `word bad`"),
        ([CASE, "--fingerprint", "###"], "has no analysis `###` at version 1\n"),
        (["build-server"], "there is no case `default/build-server`; did you mean host:build-server?"),
        ([f"acme/{CASE}"], f"there is no case `acme/{CASE}`"),
        ([CASE, "--seen", "2"], "has no version 2: its newest is 1"),
        ([CASE, "--seen", "-1"], "has no version -1: its newest is 1"),
        ([CASE, "--by", " ada"], "the name of whoever says it cannot be used"),
        ([CASE, "--score", "1.1"], "--score: not a number from 0 to 1"),
        ([CASE, "--confidence", "nan"], "--confidence: not a number from 0 to 1"),
        ([CASE, "--why", " "], "--why: there is nothing in it"),
        ([CASE, "--request-id", ""], "the request id cannot be used"),
        ([CASE, "--request-id", "x\n"], "the request id cannot be used"),
        ([CASE, "--verdict", "guilty"], "guilty"),
    ],
)
def test_what_cannot_be_judged(still: Home, arguments: list[str], says: str) -> None:
    """Nothing is put on the tape."""
    flags = [] if "--why" in arguments else ["--why", "x"]
    flags += [] if "--verdict" in arguments else ["--verdict", "benign"]
    before = still.appended()
    answer = still("judge", *arguments, *flags, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert still.appended() == before


def test_the_same_request_again_changes_nothing(home: Home) -> None:
    """I4, and the state table's row 17 of the field reports: whoever comes second gets what the first one got."""
    flags = ("--fingerprint", "word bad", "--request-id", "ticket-7")
    first = home.judge("benign", *flags)
    home.judge("malicious", "--fingerprint", "word bad")
    before = home.show(CASE, "--all")
    again = home.judge("benign", *flags)
    assert (again["analysis"], again["repeated"], again["number"]) == (first["analysis"], True, 3)
    assert home.show(CASE, "--all") == before
    assert (
        "which the same request put there before"
        in home(
            "judge", CASE, "--verdict", "benign", "--why", "I know", "--by", "ada", *flags, env={"COLUMNS": "200"}
        ).out
    )
    for other in (["--verdict", "unknown", "--why", "I know"], ["--verdict", "benign", "--why", "I do not"]):
        refused = home("judge", CASE, *other, "--by", "ada", *flags)
        assert (refused.code, refused.out) == (2, "")
        assert "the same request id" in refused.err.lower()
    assert home.show(CASE, "--all") == before
    assert home.judge("benign", *flags, "--by", "kim")["repeated"] is False, "another person's is another request"
