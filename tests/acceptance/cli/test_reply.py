"""`casetape reply`: a text on a case that is there starts work on it again."""

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
    made = Home(tmp_path_factory.mktemp("reply"))
    made.told("odd")
    return made


def reply(home: Home, text: str, *args: str) -> dict[str, Any]:
    answer: dict[str, Any] = home("reply", CASE, text, "--json", *args).json
    return answer


def test_it_becomes_evidence_and_detectors_look_at_it(home: Home) -> None:
    answer = reply(home, "it looks bad\nto me", "--by", "ada", "--request-id", "r-1")
    assert {
        "case",
        "observation",
        "repeated",
        "queued",
        "number",
        "id",
        "at",
        "assessment",
        "counting",
    } == answer.keys()
    assert (answer["case"], answer["number"], answer["repeated"], answer["queued"]) == (
        f"default/{CASE}",
        2,
        False,
        False,
    )
    assert answer["assessment"]["verdict"] == "malicious"
    shown = home.show()
    told = next(one for one in shown["inputs"] if one["id"] == answer["observation"])
    assert (told["kind"], told["text"], told["at"], told["version"]) == ("text", "it looks bad\nto me", None, 2)
    assert told["origin"] == "person:ada/r-1"
    assert next(one for one in shown["analyses"] if one["fingerprint"] == "word bad")["version"] == 2
    assert home("cases", "verify", "--json").json["faults"] == []


def test_the_same_request_again_changes_nothing(home: Home) -> None:
    first = reply(home, "bad", "--by", "ada", "--request-id", "r-1")
    before, appended = home.show(CASE, "--all"), home.appended()
    again = reply(home, "bad", "--by", "ada", "--request-id", "r-1")
    assert (again["observation"], again["repeated"], again["number"]) == (first["observation"], True, 2)
    assert home.show(CASE, "--all") == before
    assert home.appended() == appended, "it is not even on the tape twice"
    refused = home("reply", CASE, "worse", "--by", "ada", "--request-id", "r-1")
    assert (refused.code, refused.out) == (2, "")
    assert "the same request id" in refused.err.lower()
    assert home.show(CASE, "--all") == before


def test_the_same_words_in_two_requests_are_two(home: Home) -> None:
    one, other = reply(home, "nothing new"), reply(home, "nothing new")
    assert one["observation"] != other["observation"]
    assert [other["number"], other["repeated"]] == [3, False]
    (told,) = [each for each in home.show()["inputs"] if each["id"] == other["observation"]]
    assert told["origin"].startswith(f"person:{getpass.getuser()}/")


def test_for_people(home: Home) -> None:
    out = home("reply", CASE, "bad").out
    assert f"default/{CASE}: version 2, with the observation inp_" in out
    assert all(word in out for word in ("verdict", "suspicious", "malicious"))


def test_it_works_off_what_else_waits(home: Home) -> None:
    fed = home("feed", "-", "--kind", "text", "--subject", "host:other", stdin=b"fine\n")
    assert fed.code == 0
    reply(home, "x")
    assert home.assessment("host:other")["verdict"] == "benign"


def test_a_case_of_a_tenant(tmp_path: Path) -> None:
    """I8."""
    home = Home(tmp_path)
    home.told("odd", tenant="acme")
    answer = home("reply", f"acme/{CASE}", "bad", "--json").json
    assert (answer["case"], answer["assessment"]["verdict"]) == (f"acme/{CASE}", "malicious")
    assert [row["key"] for row in home("cases", "list", "--json").json] == [f"acme/{CASE}"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build-server", "x"], "there is no case `default/build-server`; did you mean host:build-server?"),
        ([f"acme/{CASE}", "x"], f"there is no case `acme/{CASE}`"),
        ([CASE, " "], "the text: there is nothing in it"),
        ([CASE, "x" * 65_537], "the text: 65537 characters; at most 65536 fit"),
        ([CASE, "x", "--by", "a\tb"], "the name of whoever says it cannot be used"),
        ([CASE, "x", "--request-id", "x" * 257], "the request id cannot be used"),
    ],
)
def test_what_cannot_be_replied(still: Home, arguments: list[str], says: str) -> None:
    """Nothing is put on the tape."""
    before = still.appended()
    answer = still("reply", *arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert still.appended() == before


def test_without_the_recorder_it_says_so(home: Home) -> None:
    """It stays on the tape, and a later run can be shown it."""
    home.settings('detectors = ["words"]\n')
    answer = home("reply", CASE, "nothing known")
    assert (answer.code, answer.out) == (1, "")
    assert "the recorder" in answer.err
