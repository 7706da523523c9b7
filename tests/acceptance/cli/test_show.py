"""`casetape cases show`: I2, a version can be read back for ever, and says what its authors were looking at."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engines.sqlite import FILE
from tests import factories
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape
from tests.acceptance.command import Answer

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]


class Told(NamedTuple):
    """A home, and what `show` printed of the case when each version was the newest."""

    home: Path
    then: dict[int, Answer]
    table: dict[int, Answer]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Told:
    home = tmp_path_factory.mktemp("show") / "home"
    then: dict[int, Answer] = {}
    table: dict[int, Answer] = {}

    def look(number: int) -> None:
        then[number] = casetape(home, "cases", "show", story.CASE, "--all", "--json")
        table[number] = casetape(home, "cases", "show", story.CASE)

    return Told(story.tell(home, look), then, table)


def show(told: Told, *args: str) -> dict[str, Any]:
    shown: dict[str, Any] = casetape(told.home, "cases", "show", *args, "--json").json
    return shown


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_version_is_shown_as_it_was_when_it_was_the_newest(told: Told, number: int) -> None:
    again = casetape(told.home, "cases", "show", story.CASE, "--all", "--json", "--at", str(number))
    assert again.out == told.then[number].out
    assert again.json["number"] == number
    assert casetape(told.home, "cases", "show", story.CASE, "--at", str(number)).out == told.table[number].out


def test_what_a_version_says(told: Told) -> None:
    shown = show(told, story.CASE)
    assert (shown["key"], shown["tenant"], shown["subject"]) == (story.CASE, "default", story.SUBJECT)
    assert shown["counts"] == {"inputs": 3, "analyses": 2, "analyses_total": 3, "conflicts": 1}
    made = shown["assessment"]
    assert (made["verdict"], made["severity"], made["score"], made["policy"]) == ("malicious", "high", 0.9, "worst")
    assert made["review"] == ["conflict"]
    assert made["conflicts"] == [
        {
            "target": story.MALICIOUS.target,
            "analyses": sorted([story.MALICIOUS.id, story.BENIGN.id]),
            "says": [
                {"id": one.id, "detector": one.detector, "fingerprint": one.fingerprint, "verdict": one.verdict}
                for one in sorted([story.MALICIOUS, story.BENIGN], key=lambda one: one.id)
            ],
        }
    ]
    assert made["counted"] == [story.MALICIOUS.id]
    worst = shown["analyses"][0]
    assert {name: worst[name] for name in ("id", "detector", "detector_version", "fingerprint", "verdict")} == {
        "id": story.MALICIOUS.id,
        "detector": "beaconing",
        "detector_version": "1",
        "fingerprint": "fingerprint 0",
        "verdict": "malicious",
    }
    assert (worst["score"], worst["confidence"], worst["at"]) == (0.9, 1.0, "2020-04-30T12:00:01Z")
    assert worst["evidence"]["total"] == 2
    assert worst["evidence"]["sample"] == sorted([story.FIRST.id, story.SECOND_SEEN.id])


def test_what_each_author_was_looking_at(told: Told) -> None:
    one, two = (told.then[number].json["id"] for number in (1, 2))
    found = {each["id"]: each for each in show(told, story.CASE, "--all")["analyses"]}
    places = {
        story.SUSPICIOUS.id: (1, {"number": 0, "id": story.GENESIS}, "beaconing"),
        story.MALICIOUS.id: (2, {"number": 1, "id": one}, "beaconing"),
        # by the time this one was merged version 2 was there, and its author had not seen it
        story.BENIGN.id: (3, {"number": 1, "id": one}, "dns"),
    }
    assert two != one
    assert {
        each: (shown["version"], shown["looking_at"], shown["author"]["name"]) for each, shown in found.items()
    } == places
    out = told.table[3].out
    assert "brought by version 3, from dns, looking at version 1" in out
    assert "looking at the empty state (version 0)" in told.table[1].out


def test_superseded_analyses_are_shown_when_asked_for(told: Told) -> None:
    assert {one["id"] for one in show(told, story.CASE)["analyses"]} == {story.MALICIOUS.id, story.BENIGN.id}
    current = {one["id"]: one["current"] for one in show(told, story.CASE, "--all")["analyses"]}
    assert current == {story.MALICIOUS.id: True, story.BENIGN.id: True, story.SUSPICIOUS.id: False}
    assert "(superseded)" in casetape(told.home, "cases", "show", story.CASE, "--all").out
    assert "1 superseded (--all)" in told.table[2].out


def test_inputs_and_how_many(told: Told) -> None:
    whole = show(told, story.CASE)["inputs"]
    assert [(one["id"], one["version"]) for one in whole] == [
        (story.FIRST.id, 1),
        (story.SECOND_SEEN.id, 2),
        (story.TOLD.id, 3),
    ]
    assert (whole[0]["data"], whole[0]["text"], whole[0]["at"]) == ({"n": 0}, None, "2020-04-30T12:00:00Z")
    assert (whole[2]["data"], whole[2]["text"], whole[2]["kind"]) == (None, story.SENTENCE, "text")
    assert show(told, story.CASE, "--inputs", "2")["inputs"] == whole[1:]
    assert show(told, story.CASE, "--inputs", "0")["inputs"] == []
    few = casetape(told.home, "cases", "show", story.CASE, "--inputs", "1").out
    assert story.SENTENCE in few
    assert "2 earlier inputs" in few


def test_for_people(told: Told) -> None:
    out = told.table[3].out
    assert f"{story.CASE}  version 3" in out
    assert all(word in out for word in ("malicious", "high", "0.900", "by policy worst", "for review: conflict"))
    assert f"conflict about {story.MALICIOUS.target} (beaconing: malicious, dns: benign)" in out
    assert all(word in out for word in ("line one", "line two", "3 inputs", story.SENTENCE))


def test_version_0_is_the_empty_state(told: Told) -> None:
    empty = show(told, story.CASE, "--at", "0")
    assert (empty["number"], empty["id"], empty["at"], empty["assessment"]) == (0, story.GENESIS, None, None)
    assert (empty["analyses"], empty["inputs"]) == ([], [])
    assert "the empty state" in casetape(told.home, "cases", "show", story.CASE, "--at", "0").out


def test_the_default_tenant_may_be_left_out(told: Told) -> None:
    assert show(told, story.SUBJECT) == show(told, story.CASE)


@pytest.mark.parametrize("verb", [["show"], ["history"], ["export"], ["diff", "1", "2"]])
def test_a_subject_without_its_type_is_understood(told: Told, verb: list[str]) -> None:
    answer = casetape(told.home, "cases", verb[0], "10.0.0.5", *verb[1:])
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "casetape: there is no case `default/10.0.0.5`; did you mean host:10.0.0.5?\n"
    other = casetape(told.home, "cases", "show", "acme/alice")
    assert other.err == "casetape: there is no case `acme/alice`; did you mean acme/user:alice?\n"


def test_numbers_are_shown_when_asked_for(tmp_path: Path) -> None:
    seen = factories.observation(0)
    one = factories.analysis(0, on=(seen,)).model_copy(update={"numbers": {"gaps": 1234}}).identified()
    story.append(tmp_path / "home", factories.branch(one, seen))
    assert "gaps" not in casetape(tmp_path / "home", "cases", "show", story.CASE).out
    assert "numbers: gaps 1,234" in casetape(tmp_path / "home", "cases", "show", story.CASE, "--all").out
    (shown,) = casetape(tmp_path / "home", "cases", "show", story.CASE, "--json").json["analyses"]
    assert shown["numbers"] == {"gaps": 1234}


def test_inputs_are_the_kept_sample_of_more(tmp_path: Path, told: Told) -> None:
    seen = [factories.observation(n) for n in range(30)]
    made = factories.branch(factories.analysis(0, on=tuple(seen)), *seen[:3])
    story.append(tmp_path / "home", made)
    assert (
        "3 inputs kept of 30 observations, 1 analysis" in casetape(tmp_path / "home", "cases", "show", story.CASE).out
    )
    assert "kept of" not in told.table[3].out


def test_the_fields_that_matter_come_first(tmp_path: Path) -> None:
    data = {"aa": "x" * 200, "ab": 1, "id.orig_h": "10.0.0.5", "id.orig_p": 5, "id.resp_h": "10.0.0.4"}
    record = factories.observation(
        data={**data, "id.resp_p": 53, "orig_bytes": 7, "query": "a.example", "service": "dns"}
    )
    story.append(tmp_path / "home", factories.branch(record))
    out = casetape(tmp_path / "home", "cases", "show", story.CASE, env={"COLUMNS": "200"}).out
    assert "10.0.0.5:5 -> 10.0.0.4:53 query=a.example service=dns orig_bytes=7 \u2026" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["host:nowhere"], "there is no case `default/host:nowhere`"),
        (["acme/host:10.0.0.5"], "there is no case `acme/host:10.0.0.5`"),
        (["Acme/host:x"], "`Acme` is not a tenant's name"),
        (["default/"], "`default/` does not name a case"),
        (["default/%ff"], "`default/%ff` does not name a case"),
        ([story.CASE, "--at", "4"], f"`{story.CASE}` has no version 4: its newest is 3"),
        ([story.CASE, "--at", "-1"], f"`{story.CASE}` has no version -1: its newest is 3"),
    ],
)
def test_what_is_not_there(told: Told, arguments: list[str], said: str) -> None:
    answer = casetape(told.home, "cases", "show", *arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"casetape: {said}"), answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.embedded
def test_it_can_be_shown_while_somebody_writes(told: Told) -> None:
    with closing(sqlite3.connect(told.home / FILE, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE cases SET score = 0")
        assert show(told, story.CASE)["assessment"]["score"] == 0.9
        writer.execute("ROLLBACK")
