"""The worked example of the policies' page is what the policies do, and both pages name the options there are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from casetape.settings import Settings
from merge.assess import assess
from merge.policies.common import COMMON
from merge.policies.registry import BUILT_IN, Chosen, Registry, policies
from schemas.scales import MILLION
from schemas.verdicts import VERDICTS
from tests import factories
from tests.acceptance.cli.piped import casetape
from tests.acceptance.words import CASE, Home

PAGES = Path(__file__).parents[3] / "docs" / "reference"
POLICIES = (PAGES / "policies.md").read_text()
PEOPLE = (PAGES / "people.md").read_text()


def table(page: str, *head: str) -> Iterator[list[str]]:
    """The rows of the table that has this head."""
    lines = page.splitlines()
    first = lines.index(f"| {' | '.join(head)} |")
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip().strip("`") for cell in line[1:-1].split("|")]


def millionths(text: str) -> int:
    return round(float(text) * MILLION)


def test_the_worked_example() -> None:
    said = {}
    for detector, fingerprint, verdict, score, confidence, weight in table(
        POLICIES, "detector", "fingerprint", "verdict", "score", "confidence", "weight"
    ):
        one = factories.analysis(
            detector=detector,
            fingerprint=fingerprint,
            verdict=next(name for name in VERDICTS if name == verdict),
            score=millionths(score),
            confidence=millionths(confidence),
        )
        assert one.weight == millionths(weight)
        said[one.id] = one
    rows = list(table(POLICIES, "policy", "options", "verdict", "score", "rests on"))
    assert {row[0] for row in rows} == set(BUILT_IN)
    for name, options, verdict, score, counted in rows:
        made = assess(said.values(), None, Registry().bind(Chosen(name, tomllib.loads(options))))
        named = [said[one].fingerprint.split()[0] for one in made.counted]
        assert (made.verdict, made.score, sorted(named)) == (
            verdict,
            millionths(score),
            sorted(re.findall(r"\w+", counted)),
        ), (name, options)


def test_ten_faint_hints() -> None:
    hints = [factories.analysis(detector=f"d{n}", score=200_000) for n in range(10)]
    score = assess(hints, None, Registry().bind(Chosen("noisy-or"))).score
    assert f"come to {score / MILLION:.6f}"[: len("come to 0.892")] in POLICIES


def test_the_options_that_every_policy_takes() -> None:
    assert {row[0] for row in table(POLICIES, "option", "meaning")} == COMMON
    text = next(block for block in re.findall(r"```toml\n(.*?)```", POLICIES, re.DOTALL) if "[policy]" in block)
    chosen = Settings(**tomllib.loads(text))
    of = policies(Registry(), chosen.policy_choice())
    assert of("default", "host:1").recorded == {"k": 2, "max_age": "30d"}
    assert set(of("acme", "host:1").recorded) == COMMON


def test_the_options_and_fields_of_what_people_say(tmp_path: Path) -> None:
    rows = list(table(PEOPLE, "option", "of", "meaning"))
    for verb in ("judge", "reply"):
        named = {flag for flags, of, _ in rows for flag in re.findall(r"--[a-z-]+", flags) if of in (verb, "both")}
        helped = set(re.findall(r"(--[a-z-]+)", casetape(tmp_path, verb, "--help", env={"COLUMNS": "300"}).out))
        assert named | {"--home", "--json", "--help"} == helped
    home = Home(tmp_path)
    home.told("odd")
    fields = [name for row in table(PEOPLE, "field of `--json`", "meaning") for name in re.findall(r"\w+", row[0])]
    answers = home.judge("unknown"), json.loads(home("reply", CASE, "x", "--json").out)
    assert {name for name in fields if name != "or"} == set(answers[0]) | set(answers[1])
