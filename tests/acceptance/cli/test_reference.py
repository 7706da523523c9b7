"""The reference pages name what there is: no more, no less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from casetape.run import RunReport
from casetape.settings import PREFIX, Settings
from merge.assess import assess
from merge.policies.registry import BUILT_IN, Chosen, Registry
from tests import factories
from tests.acceptance.cli.piped import casetape

PAGES = Path(__file__).parents[3] / "docs" / "reference"


def rows(page: str) -> list[list[str]]:
    """The rows of a page's tables, without their heads."""
    lines = (PAGES / page).read_text().splitlines()
    return [[cell.strip().strip("`") for cell in line.strip("| ").split(" | ")] for line in lines if line[:3] == "| `"]


def blocks(page: str, language: str) -> list[str]:
    """The examples of a page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)


def test_every_setting_is_there_and_none_is_invented() -> None:
    named = {row[0]: row[1] for row in rows("settings.md")}
    assert named == {key: PREFIX + key.upper() for key in Settings.model_fields}
    text = (PAGES / "settings.md").read_text()
    variables = {name.partition("__")[0] for name in re.findall(r"CASETAPE_[A-Z_]*[A-Z]", text)}
    known = {*named.values(), "CASETAPE_CONFIG", "CASETAPE_FAIL_POINT", "CASETAPE_REQUIRE_SERVICES"}
    assert variables <= known


def test_the_defaults_are_those_of_the_settings() -> None:
    said = {row[0]: row[2] for row in rows("settings.md")}
    keys = ("tenant", "workers", "partitions", "lateness", "silence", "session", "call", "window_mib")
    for key in (*keys, "keep_versions", "keep_ledger"):
        default = Settings.model_fields[key].default
        assert said[key] == (default if isinstance(default, str) else f"{default:g}"), key
    assert said["policy"] == Settings.model_fields["policy"].default.name
    topics = Settings.model_fields["retention"].default
    assert said["retention"] == ", ".join(f"{topic} = {days:g}" for topic, days in topics.items())


def test_the_example_is_a_settings_file(tmp_path: Path) -> None:
    (text,) = blocks("settings.md", "toml")
    (tmp_path / "casetape.toml").write_text(text)
    config = {"CASETAPE_CONFIG": str(tmp_path / "casetape.toml")}
    listed = casetape(tmp_path / "home", "detector", "list", "--json", env=config).json["detectors"]
    values = {one["name"]: one["parameters"] for one in listed}
    assert values["beaconing"]["fewest_calls"]["value"] == 10


def test_every_field_of_a_report_is_there() -> None:
    feed = ["read", "appended", "already_fed", "quarantined", "untimed"]
    codes = [row[0] for row in rows("run.md")]
    assert codes == [*RunReport.__dataclass_fields__, *feed]


def test_feed_reports_what_the_page_says(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("a sentence\n")
    report = casetape(tmp_path / "home", "feed", log, "--kind", "text", "--json").json
    assert list(report) == [row[0] for row in rows("run.md")][-5:]


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_policy_is_there(name: str) -> None:
    assert f"## `{name}`" in (PAGES / "policies.md").read_text()


def test_the_policy_of_the_page_is_one() -> None:
    (code,) = blocks("policies.md", "python")
    names: dict[str, object] = {"__name__": "my_policies"}
    exec(code, names)  # noqa: S102 - the page's own example
    function = names["agreement"]
    assert callable(function)
    bound = Registry({"agreement": function}).bind(Chosen("agreement"))
    assert bound.options == {"detectors": 2}
    one, other = factories.analysis(0), factories.analysis(1, detector="dns", score=700_000)
    alone, both = assess([one], None, bound), assess([one, other], None, bound)
    assert (alone.verdict, alone.score, alone.review) == ("unknown", 0, ())
    assert (both.verdict, both.score, both.review) == ("suspicious", 700_000, ())


def test_the_severities_of_the_page() -> None:
    """A case is milder than an analysis in it where the analysis is not sure."""
    one = factories.analysis(score=865_000, confidence=909_999)
    made = assess([one], None, Registry.installed().bind(Chosen()))
    assert (one.severity, made.score // 1000, made.severity) == ("high", 787, "medium")
