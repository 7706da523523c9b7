"""`casetape cases reassess` by the settings: of one case, and of all that would change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.words import CASE, Home

ALLOW = 'policy = { name = "worst", options = { allow = ["word bad"] } }\n'
ACME = '[[policies]]\ntenant = "acme"\nname = "worst"\noptions = { allow = ["word bad"] }\n'
WIDE = {"COLUMNS": "120"}


@pytest.fixture
def home(tmp_path: Path, told: Home) -> Home:
    return told.copied(tmp_path)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Three cases: two that the list concerns, of two tenants, and one that it does not."""
    made = Home(tmp_path_factory.mktemp("told"))
    made.told("bad odd")
    made.told("bad odd", tenant="acme")
    made.told("odd", case="host:other")
    return made


def numbers(home: Home) -> dict[str, int]:
    return {row["key"]: row["number"] for row in home("cases", "list", "--json").json}


def everything(home: Home, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = home("cases", "reassess", "--all", "--json", *args).json
    return found


def test_one_case_by_the_settings(home: Home) -> None:
    home.settings(ALLOW)
    made = home("cases", "reassess", CASE, "--json").json
    assert (made["number"], made["assessment"]["verdict"], made["assessment"]["policy"]) == (2, "suspicious", "worst")
    assert made["assessment"]["options"] == {"allow": ["word bad"]}
    (gone,) = made["counting"]
    assert (gone["title"], gone["fingerprint"], gone["was"], gone["now"]) == (
        *("A bad word", "word bad"),
        *("counts", "allowed"),
    )
    home.settings("")
    out = home("cases", "reassess", CASE, env=WIDE).out
    assert all(word in out for word in ("version 3", "A bad word", "not counted: on the allow-list", "counts again"))


def test_by_the_settings_of_its_tenant(home: Home) -> None:
    """I8."""
    home.settings(ACME)
    assert home("cases", "reassess", CASE, "--json").json["assessment"]["verdict"] == "malicious"
    assert home("cases", "reassess", f"acme/{CASE}", "--json").json["assessment"]["verdict"] == "suspicious"


def test_all_that_would_change_and_no_other(home: Home) -> None:
    assert everything(home) == {"cases": 3, "unchanged": 3, "reassessed": []}
    home.settings(ACME)
    before = numbers(home)
    found = everything(home)
    assert (found["cases"], found["unchanged"]) == (3, 2)
    (made,) = found["reassessed"]
    assert made["case"] == f"acme/{CASE}"
    assert (made["assessment"]["verdict"], [one["now"] for one in made["counting"]]) == ("suspicious", ["allowed"])
    assert numbers(home) == {**before, f"acme/{CASE}": 2}
    assert everything(home)["reassessed"] == [], "once is enough"
    assert home("cases", "verify", "--json").json["faults"] == []


def test_all_of_a_tenant(home: Home) -> None:
    home.settings(ALLOW)
    assert (everything(home, "--tenant", "acm")["cases"], everything(home, "--tenant", "acme")["cases"]) == (0, 1)
    assert numbers(home) == {f"acme/{CASE}": 2, f"default/{CASE}": 1, "default/host:other": 1}


def test_all_by_another_policy(home: Home) -> None:
    found = everything(home, "--policy", "quorum", "--policy-option", "k=1")
    assert {one["assessment"]["policy"] for one in found["reassessed"]} == {"quorum"}
    assert len(found["reassessed"]) == 3, "the policy's name is part of an assessment"


def test_all_for_people(home: Home) -> None:
    home.settings(ALLOW)
    out = home("cases", "reassess", "--all", env=WIDE).out
    # also the one whose score stays: the list is part of what an assessment says of itself
    assert "3 of 3 cases assessed anew; 0 would not change" in out
    assert "malicious high 0.900" in out
    assert "suspicious low 0.500" in out
    assert home("cases", "reassess", "--all").out == "0 of 3 cases assessed anew; 3 would not change\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "say which case, or --all"),
        ([CASE, "--all"], "say which case, or --all"),
        ([CASE, "--tenant", "acme"], "--tenant is for --all"),
        ([CASE, "--policy-option", "k=1"], "--policy-option needs --policy"),
    ],
)
def test_wrong_requests(home: Home, arguments: list[str], says: str) -> None:
    before = numbers(home)
    answer = home("cases", "reassess", *arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert numbers(home) == before
