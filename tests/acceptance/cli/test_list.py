"""`casetape cases list`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from casetape.cli.cases.listing import SHOWN
from schemas.scales import parse_rfc3339
from tests import factories
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

FIELDS = [
    *("key", "tenant", "subject", "number", "verdict", "severity", "score"),
    *("analyses", "conflicts", "updated_at"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Path:
    return story.tell(tmp_path_factory.mktemp("list") / "home")


def keys(home: Path, *args: str) -> list[str]:
    return [row["key"] for row in casetape(home, "cases", "list", "--json", *args).json]


def test_a_row_has_just_these_fields(home: Path) -> None:
    row = casetape(home, "cases", "list", "--json", "--tenant", "default").json[0]
    assert list(row) == FIELDS
    assert row["updated_at"].endswith("Z")
    assert parse_rfc3339(row["updated_at"]) >= factories.START
    del row["updated_at"]
    assert row == {
        "key": story.CASE,
        "tenant": "default",
        "subject": story.SUBJECT,
        "number": 3,
        "verdict": "malicious",
        "severity": "high",
        "score": 0.9,
        "analyses": 2,
        "conflicts": 1,
    }


def test_orders_and_limits(home: Path) -> None:
    assert keys(home) == [story.OTHER, story.CASE]
    assert keys(home, "--order", "key") == [story.OTHER, story.CASE]
    assert keys(home, "--order", "updated") == [story.OTHER, story.CASE]
    assert keys(home, "--limit", "1") == [story.OTHER]


def test_a_tenant_sees_its_own(home: Path) -> None:
    """I8."""
    assert keys(home, "--tenant", "acme") == [story.OTHER]
    assert keys(home, "--tenant", "acm") == []
    configured = casetape(home, "cases", "list", "--json", env={"CASETAPE_TENANT": "acme"})
    assert [row["key"] for row in configured.json] == [story.OTHER]


def test_for_people(home: Path) -> None:
    answer = casetape(home, "cases", "list")
    assert answer.code == 0
    assert all(word in answer.out for word in ("2 cases, worst first", story.SUBJECT, story.OTHER, "critical", "0.950"))


def test_people_are_told_how_many_there_are(home: Path, tmp_path: Path) -> None:
    """A hundred rows at first; `--limit` says nothing about how many there are in all."""
    for_people = casetape(home, "cases", "list", "--limit", "1")
    assert "1 of 2 cases, worst first; --limit N for more" in for_people.out
    assert story.SUBJECT not in for_people.out
    many = tmp_path / "many"
    story.append(many, *(factories.finding(0, subject=f"host:{number}") for number in range(SHOWN + 3)))
    listed = casetape(many, "cases", "list").out
    assert f"{SHOWN} of {SHOWN + 3} cases" in listed
    assert len(re.findall(r"^ host:", listed, re.MULTILINE)) == SHOWN
    assert len(keys(many)) == SHOWN + 3
    everything = casetape(many, "cases", "list", "--limit", "1000", "--order", "key").out
    assert f"{SHOWN + 3} cases, by key\n" in re.sub(" +\n", "\n", everything)


def test_only_those_that_are_bad_enough(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for verdict, score in (("benign", 0), ("unknown", 450_000), ("suspicious", 610_000), ("malicious", 960_000)):
        story.append(home, factories.finding(0, subject=f"host:{verdict}", verdict=verdict, score=score))
    worse = ["default/host:malicious", "default/host:suspicious"]
    assert keys(home, "--verdict", "suspicious") == worse
    assert keys(home, "--verdict", "benign") == keys(home)
    assert keys(home, "--min-severity", "medium") == worse
    assert keys(home, "--min-severity", "critical") == worse[:1]
    assert keys(home, "--verdict", "unknown", "--min-severity", "low", "--order", "key") == [
        *worse,
        "default/host:unknown",
    ]
    assert keys(home, "--verdict", "unknown", "--limit", "1", "--order", "updated") == worse[:1]
    out = casetape(home, "cases", "list", "--verdict", "unknown", "--limit", "1").out
    assert "1 of 3 cases that are unknown or worse, worst first; --limit N for more" in out
    assert "host:benign" not in out
    story.append(home, factories.finding(0, tenant="acme", verdict="benign", score=0))
    assert keys(home, "--tenant", "acme", "--verdict", "unknown") == [], "I8"
    none = casetape(home, "cases", "list", "--tenant", "acme", "--min-severity", "high")
    assert none.out == "tenant acme has no cases that are of severity high or higher\n"
    assert casetape(home, "cases", "list", "--verdict", "guilty").code == 2


def test_a_tenant_without_cases(home: Path) -> None:
    assert casetape(home, "cases", "list", "--tenant", "acm").out == "tenant acm has no cases\n"


def test_nothing_there_yet(tmp_path: Path) -> None:
    assert casetape(tmp_path, "cases", "list", "--json").json == []
    assert casetape(tmp_path, "cases", "list").out == "there are no cases\n"
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


@pytest.mark.embedded
def test_a_home_that_does_not_exist(tmp_path: Path) -> None:
    for verb in (["cases", "list"], ["cases", "show", "x"], ["cases", "verify"], ["quarantine", "list"]):
        answer = casetape(tmp_path / "none", *verb, "--json")
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith(f"casetape: there is no casetape data in {tmp_path / 'none'}")
        assert answer.err.count("\n") == 1
    assert not (tmp_path / "none").exists()
