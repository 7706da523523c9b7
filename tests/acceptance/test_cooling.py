"""A case cools down by age, by an allow-list and by a person's word, and warms up again; nothing is dropped (I3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.words import CASE, Home

POLICIES = ("worst", "quorum")
OWN = {"quorum": "k = 1, "}


def settings(policy: str, options: str) -> str:
    return f'[policy]\nname = "{policy}"\noptions = {{ {OWN.get(policy, "")}{options} }}\n'


@pytest.mark.parametrize("policy", POLICIES)
def test_by_age(tmp_path: Path, policy: str) -> None:
    home = Home(tmp_path, settings(policy, 'max_age = "30d"'))
    assert home.told("bad", "2024-01-01")["verdict"] == "malicious"
    assert home.told("odd", "2024-01-31")["verdict"] == "malicious", "30 days old, and no older"
    cool = home.told("odd", "2024-03-01")
    assert (cool["verdict"], cool["score"], cool["options"]["max_age"]) == ("suspicious", 0.5, "30d")
    assert home.left_out() == {"words word bad": "too_old", "words word odd": None}
    assert home.left_out(CASE, "--at", "2") == {"words word bad": None, "words word odd": None}
    assert home.told("bad", "2024-03-02")["verdict"] == "malicious"
    assert home("cases", "verify", "--json").json["faults"] == []


def test_by_a_list_of_one_tenant(tmp_path: Path) -> None:
    """I8: the other tenant's case stays as it is. And once the list is shorter the next version counts it again."""
    rule = '[[policies]]\ntenant = "acme"\nname = "worst"\noptions = { allow = ["word b?d"] }\n'
    home = Home(tmp_path, rule)
    assert home.told("bad odd", tenant="acme")["verdict"] == "suspicious"
    assert home.told("bad odd")["verdict"] == "malicious"
    assert home.left_out(f"acme/{CASE}") == {"words word bad": "allowed", "words word odd": None}
    assert home.left_out() == {"words word bad": None, "words word odd": None}
    shown = home("cases", "show", f"acme/{CASE}", env={"COLUMNS": "120"}).out
    assert "(not counted: on the allow-list)" in shown
    assert "2 analyses (1 of them not counted)" in shown
    home.settings("")
    assert home.told("fine", tenant="acme")["verdict"] == "malicious"
    assert home.left_out(f"acme/{CASE}", "--at", "1") == {"words word bad": "allowed", "words word odd": None}


def test_by_a_persons_word(tmp_path: Path) -> None:
    home = Home(tmp_path)
    disputed = home.told("bad odd fine", "2024-01-01")
    assert (disputed["verdict"], disputed["review"]) == ("malicious", ["conflict"])
    said = home.judge("benign", "--fingerprint", "word bad")
    assert (said["assessment"]["verdict"], said["assessment"]["review"]) == ("suspicious", [])
    assert home.left_out()["words word bad"] == "dismissed"
    later = home.told("bad again", "2024-02-01")
    assert later["verdict"] == "suspicious", "what comes later does not count either"
    assert home.judge("unknown", "--fingerprint", "word bad")["assessment"]["verdict"] == "malicious"
    assert home.left_out()["words word bad"] is None
    assert home("cases", "show", CASE, "--at", "2", "--json").json["assessment"] == said["assessment"]
    assert home("cases", "verify", "--json").json["faults"] == []


def test_reassessing_takes_the_options_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.told("bad", "2024-01-01")
    home.told("odd", "2024-03-01")

    def again(*options: str) -> tuple[str, float, dict[str, object]]:
        flags = [word for option in options for word in ("--policy-option", option)]
        made = home("cases", "reassess", CASE, "--policy", "noisy-or", *flags, "--json").json["assessment"]
        return made["verdict"], made["score"], made["options"]

    assert again() == ("malicious", 0.9, {})
    assert again("max_age=30d") == ("suspicious", 0.5, {"max_age": "30d"})
    assert again("max_age=5184000") == ("malicious", 0.9, {"max_age": "60d"})
    assert again("allow=word *") == ("unknown", 0.0, {"allow": ["word *"]})
    assert again("allow=word bad,word odd") == ("unknown", 0.0, {"allow": ["word bad", "word odd"]})
    for wrong, says in (("max_age=soon", "option `max_age`: whole seconds"), ("k=2", "it has no option `k`")):
        answer = home("cases", "reassess", CASE, "--policy", "noisy-or", "--policy-option", wrong)
        assert (answer.code, answer.out) == (2, "")
        assert f"policy `noisy-or`: {says}" in answer.err


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that nothing is done to."""
    made = Home(tmp_path_factory.mktemp("still"))
    made.told("odd")
    return made


@pytest.mark.parametrize("verb", [["run"], ["judge", CASE, "--verdict", "benign", "--why", "x"], ["reply", CASE, "x"]])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('policy = "best"', "there is no policy `best`; known are"),
        ('[policy]\noptions = { max_age = "0d" }', "policy `worst`: option `max_age`: it lies between 1s and 36500d"),
        (
            '[[policies]]\ntenant = "acme"\nname = "quorum"\noptions = { k = 0 }',
            "setting `policies` (tenant acme): policy `quorum`: option `k`: ",
        ),
        ('[[policies]]\nname = "quorum"', "it names neither a tenant nor a subject_type"),
    ],
)
def test_wrong_policies_are_named_at_the_start(still: Home, verb: list[str], text: str, says: str) -> None:
    before = still.appended()
    still.settings(text)
    answer = still(*verb)
    assert (answer.code, answer.out) == (2, ""), answer
    assert says in answer.err
    assert still.appended() == before, "nothing was put on the tape"
