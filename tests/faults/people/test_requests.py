"""A person's request that is killed, repeated, or made twice at once is one analysis or observation (I4; state table of
the field reports, rows 2, 3 and 17)."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from engines import topics
from engines.engine import Engine
from engines.log import NewRecord
from engines.sqlite import open_engine
from merge.merger import Merger
from merge.reading import load_summary
from schemas.scales import SECOND
from schemas.version import StateVersion
from tests import factories
from tests.acceptance.command import command, environment
from tests.acceptance.words import CASE, Home
from tests.faults.merge import homes
from workers.people.errors import RequestReused
from workers.people.judging import judge, settle_judged
from workers.people.requests import PREFIX, Note, claim, recall, request, settle
from workers.people.word import Word

JUDGE = ["judge", CASE, "--verdict", "benign", "--fingerprint", "word bad", "--why", "x", "--by", "ada"]
REPLY = ["reply", CASE, "it is fine", "--by", "ada"]
NOW = factories.START + 100 * SECOND


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.told("bad")
    return made


def by_ada(home: Home) -> tuple[list[str], list[str]]:
    """What ada has put into the case: analyses and inputs."""
    shown = home.show(CASE, "--all")
    analyses = [one["id"] for one in shown["analyses"] if one["detector"] == "person:ada"]
    return analyses, [one["id"] for one in shown["inputs"] if one["origin"].startswith("person:ada/")]


@pytest.mark.parametrize("point", ["request.noted", "request.appended"])
@pytest.mark.parametrize("verb", [JUDGE, REPLY], ids=["judge", "reply"])
def test_one_that_was_killed_is_finished_by_the_next(home: Home, verb: list[str], point: str) -> None:
    flags = [*verb, "--request-id", "r-1", "--json"]
    assert home(*flags, env={"CASETAPE_FAIL_POINT": point}).code == -signal.SIGKILL
    again = home(*flags).json
    assert (again["repeated"], again["queued"]) == (True, False)
    found = [one for kept in by_ada(home) for one in kept]
    assert found == [again["analysis" if verb is JUDGE else "observation"]]
    assert home(*flags).json["number"] == again["number"]


@pytest.mark.parametrize("verb", [JUDGE, REPLY], ids=["judge", "reply"])
def test_without_an_id_what_was_appended_is_worked_off_later(home: Home, verb: list[str]) -> None:
    assert home(*verb, env={"CASETAPE_FAIL_POINT": "request.appended"}).code == -signal.SIGKILL
    assert home("run", "--json").json["versions"] == 1
    assert sum(map(len, by_ada(home))) == 1


@pytest.mark.parametrize("verb", [JUDGE, REPLY], ids=["judge", "reply"])
def test_two_at_once_are_one(home: Home, verb: list[str]) -> None:
    asked = [
        subprocess.Popen(
            command(*verb, "--request-id", "r-1", "--json"),
            env=environment(home.home, home.env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    answers = [one.communicate(timeout=120) for one in asked]
    assert [one.returncode for one in asked] == [0, 0, 0], answers
    found = [one for kept in by_ada(home) for one in kept]
    key = "analysis" if verb is JUDGE else "observation"
    assert {json.loads(out)[key] for out, _ in answers} == set(found)
    assert len(found) == 1


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """A case of one finding."""
    homes.made(tmp_path, [factories.finding(1)])
    opened = open_engine(tmp_path)
    homes.merge(opened, Merger(opened.log, opened.store))
    return opened


def word(verdict: str = "benign", **fields: object) -> Word:
    return Word(**{"by": "ada", "verdict": verdict, "why": "x", "fingerprint": "fingerprint 1", **fields})  # type: ignore[arg-type]  # plain keyword arguments


def test_the_first_of_a_race_stands(engine: Engine) -> None:
    asked = request(factories.CASE, "ada", "r-1", {"a": 1})
    first, second = Note(asked.arguments, "ana_1", "one"), Note(asked.arguments, "ana_2", "two")
    assert recall(engine.store, asked) is None
    assert claim(engine.store, asked, first) == first
    assert claim(engine.store, asked, second) == first
    settle(engine.store, asked, second)
    assert recall(engine.store, asked) == first, "only what stands is settled"
    settle(engine.store, asked, first)
    assert recall(engine.store, asked) == Note(asked.arguments, "ana_1")
    other = asked._replace(arguments="other")
    with pytest.raises(RequestReused):
        recall(engine.store, other)
    with pytest.raises(RequestReused):
        claim(engine.store, other, second)


def test_a_request_is_one_persons_on_one_case(engine: Engine) -> None:
    keys = {
        request(case, person, name, {}).key
        for case in (factories.CASE, "acme/" + factories.SUBJECT)
        for person in ("ada", "kim")
        for name in ("r-1", "r-2")
    }
    assert len(keys) == 8
    assert all(key.startswith((f"{PREFIX}{factories.CASE}/", f"{PREFIX}acme/")) for key in keys)


def test_the_note_of_a_word_that_its_case_has_does_not_hold_it(engine: Engine) -> None:
    """What must be destroyed one day lies in one place."""
    asked = word(request_id="r-1")
    judge(engine.log, engine.store, factories.CASE, asked, NOW)
    (note,) = engine.store.notes(PREFIX).values()
    assert b'"why"' not in note
    assert b"person:ada" in note
    homes.merge(engine, Merger(engine.log, engine.store))
    settle_judged(engine.store, factories.CASE, asked)
    (note,) = engine.store.notes(PREFIX).values()
    assert b"person:ada" not in note
    ends = engine.log.end_offsets(topics.VERSIONS)
    again = judge(engine.log, engine.store, factories.CASE, asked, NOW + SECOND)
    assert again.repeated
    assert engine.log.end_offsets(topics.VERSIONS) == ends


def test_whoever_answers_a_word_comes_after_it_whatever_the_clock_says(engine: Engine) -> None:
    """A clock that was set back by an hour: the change of mind counts all the same."""
    judge(engine.log, engine.store, factories.CASE, word(), NOW)
    homes.merge(engine, Merger(engine.log, engine.store))
    for number, by in enumerate(("ada", "kim"), 1):
        judge(engine.log, engine.store, factories.CASE, word("unknown", by=by), NOW - 3600 * SECOND)
        homes.merge(engine, Merger(engine.log, engine.store))
        current = {one.detector: one for one in load_summary(engine.store, factories.CASE).current.values()}
        assert (current[f"person:{by}"].verdict, current[f"person:{by}"].at) == ("unknown", NOW + number)


def test_a_word_that_is_signed_by_another_is_set_aside(engine: Engine) -> None:
    """A producer of branch versions cannot dismiss anything in a person's name (I9)."""
    forged = factories.analysis(1, detector="person:ada", verdict="benign", score=0)
    head = load_summary(engine.store, factories.CASE)
    version: StateVersion = factories.branch(forged, parent=head.id)
    engine.log.append(topics.VERSIONS, [NewRecord(factories.CASE, version.encode())])
    homes.merge(engine, Merger(engine.log, engine.store))
    assert load_summary(engine.store, factories.CASE) == head
    (aside,) = homes.in_quarantine(engine)
    assert "a person, and no person made" in aside.reason
