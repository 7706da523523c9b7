"""`casetape cases history` and `casetape cases diff`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from schemas.scales import MINUTE
from tests import factories
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Path:
    return story.tell(tmp_path_factory.mktemp("history") / "home")


def history(home: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = casetape(home, "cases", "history", story.CASE, "--json").json
    return steps


def diff(home: Path, a: int, b: int) -> dict[str, Any]:
    found: dict[str, Any] = casetape(home, "cases", "diff", story.CASE, str(a), str(b), "--json").json
    return found


def test_the_timeline(home: Path) -> None:
    steps = history(home)
    assert [step["number"] for step in steps] == [1, 2, 3]
    assert [step["verdict"] for step in steps] == ["suspicious", "malicious", "malicious"]
    assert [step["severity"] for step in steps] == ["medium", "high", "high"]
    assert [step["score"] for step in steps] == [0.6, 0.9, 0.9]
    assert [step["conflicts"] for step in steps] == [0, 0, 1]
    assert {step["policy"] for step in steps} == {"worst"}
    assert all(step["at"].endswith("Z") for step in steps)
    added = [([one["id"] for one in step["added"]["analyses"]], step["added"]["inputs"]) for step in steps]
    assert added == [([story.SUSPICIOUS.id], 1), ([story.MALICIOUS.id], 1), ([story.BENIGN.id], 1)]
    assert steps[0]["added"]["analyses"][0]["title"] == "analysis 0"


def test_each_step_stands_on_the_one_before_it_and_on_its_branches(home: Path) -> None:
    steps = history(home)
    assert [step["parents"][0] for step in steps] == [story.GENESIS, steps[0]["id"], steps[1]["id"]]
    for step in steps:
        assert step["parents"][1:] == [branch["id"] for branch in step["branches"]]
    seen = [step["branches"][0]["looking_at"] for step in steps]
    first = {"number": 1, "id": steps[0]["id"]}
    assert seen == [{"number": 0, "id": story.GENESIS}, first, first]
    assert [step["branches"][0]["author"]["name"] for step in steps] == ["beaconing", "beaconing", "dns"]
    assert {step["author"]["name"] for step in steps} == {"merger"}


def test_the_timeline_for_people(home: Path) -> None:
    out = casetape(home, "cases", "history", story.CASE).out
    assert all(
        word in out
        for word in (
            "3 versions",
            "+ analysis 0",
            "~ analysis 0",
            "+ analysis 1",
            "+ 1 input",
            "by worst",
            "for review: conflict",
        )
    )
    assert "the empty state" in out


def test_an_update_is_marked_and_so_is_what_came_too_late(tmp_path: Path) -> None:
    """Of one detector and fingerprint: the first, a newer one, and one that is older than that."""
    home = tmp_path / "home"
    for minutes in (10, 20, 15):
        at = factories.START + minutes * MINUTE
        story.append(home, factories.branch(factories.analysis(0, at=at), factories.observation(minutes)))
    out = casetape(home, "cases", "history", story.CASE).out
    assert re.findall(r"([-+~]) analysis 0", out) == ["+", "~", "-"]


def test_a_difference(home: Path) -> None:
    found = diff(home, 1, 3)
    steps = history(home)
    assert found["from"] == {"number": 1, "id": steps[0]["id"]}
    assert found["to"] == {"number": 3, "id": steps[2]["id"]}
    assert [one["id"] for one in found["inputs_added"]] == [story.SECOND_SEEN.id, story.TOLD.id]
    ids = {name: {one["id"] for one in found[name]} for name in ("analyses_added", "became_current", "superseded")}
    new = {story.MALICIOUS.id, story.BENIGN.id}
    assert ids == {"analyses_added": new, "became_current": new, "superseded": {story.SUSPICIOUS.id}}
    assert found["assessment"]["changed"] is True
    changes = {one["field"]: (one["before"], one["after"]) for one in found["assessment"]["changes"]}
    assert changes["verdict"] == ("suspicious", "malicious")
    assert changes["severity"] == ("medium", "high")
    assert changes["score"] == (0.6, 0.9)
    assert changes["counted"] == ([story.SUSPICIOUS.id], [story.MALICIOUS.id])
    assert changes["conflicts_total"] == (0, 1)
    before, (conflict,) = changes["conflicts"]
    assert before == []
    assert {one["detector"]: one["verdict"] for one in conflict["says"]} == {"beaconing": "malicious", "dns": "benign"}
    assert found["counting"] == [], "what came counts, and what went is superseded"
    assert changes["review"] == ([], ["conflict"])
    assert not {"policy", "options", "counted_total"} & changes.keys(), "what did not change is not named"


def test_a_difference_runs_from_the_earlier_to_the_later(home: Path) -> None:
    assert diff(home, 3, 1) == diff(home, 1, 3)


def test_a_difference_from_nothing_and_to_itself(home: Path) -> None:
    born = diff(home, 0, 1)
    assert born["from"] == {"number": 0, "id": story.GENESIS}
    assert {"field": "verdict", "before": None, "after": "suspicious"} in born["assessment"]["changes"]
    same = diff(home, 2, 2)
    assert same["assessment"] == {"changed": False, "changes": []}
    assert [same[name] for name in ("inputs_added", "analyses_added", "became_current", "superseded")] == [[]] * 4


def test_a_difference_for_people(home: Path) -> None:
    out = casetape(home, "cases", "diff", story.CASE, "1", "3").out
    assert all(word in out for word in ("from version 1 to version 3", "+ 2 inputs", story.SENTENCE))
    assert all(word in out for word in ("added, current", "superseded", "suspicious", "malicious", "0.6", "0.9"))
    assert "(beaconing: malicious, dns: benign)" in " ".join(out.split())
    assert "the assessment is the same" in casetape(home, "cases", "diff", story.CASE, "2", "2").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["history", "nowhere"], "there is no case"),
        (["diff", "nowhere", "1", "2"], "there is no case"),
        (["diff", story.CASE, "1", "9"], "has no version 9"),
    ],
)
def test_what_is_not_there(home: Path, arguments: list[str], said: str) -> None:
    answer = casetape(home, "cases", *arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
