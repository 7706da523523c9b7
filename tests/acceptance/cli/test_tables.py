"""Tables in a narrow and in a wide terminal: the key, the verdict, the score and the time stay on one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import factories
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape

WIDTHS = (80, 120)
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
LONG = "host:192.168.100.200"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story, a case with a longer name, and records in quarantine."""
    made = story.tell(tmp_path_factory.mktemp("tables") / "home")
    story.append(made, factories.finding(0, subject=LONG, verdict="suspicious"))
    log = tmp_path_factory.mktemp("a-folder-with-quite-a-long-name") / "conn.log"
    log.write_text('{"_path":"conn","ts":1588316620.5,"id.orig_h":"10.0.0.5"}\nno JSON at all\n')
    ran = casetape(made, "run", log, "--json", env={"CASETAPE_PARTITIONS": str(story.PARTITIONS)})
    assert ran.json["quarantined"] == 1
    return made


def table(home: Path, width: int, *verb: str) -> str:
    answer = casetape(home, *verb, env={"COLUMNS": str(width)})
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= width
    return answer.out


@pytest.mark.parametrize("width", WIDTHS)
def test_cases(home: Path, width: int) -> None:
    out = table(home, width, "cases", "list")
    for key, verdict, score in (
        (story.SUBJECT, "malicious", "0.900"),
        (LONG, "suspicious", "0.600"),
        (story.OTHER, "malicious", "0.950"),
    ):
        assert re.search(rf"^ {key} .*\b{verdict} .* {score} .*{TIME}", out, re.MULTILINE), out
    assert "default/" not in out
    assert ("analyses" in out) == (width == 120)


@pytest.mark.parametrize("width", WIDTHS)
def test_quarantine(home: Path, width: int) -> None:
    (row,) = casetape(home, "quarantine", "list", "--json").json
    out = table(home, width, "quarantine", "list")
    assert re.search(rf"^ {row['id'][:12]}\u2026 .*{TIME}", out, re.MULTILINE), out
    if width == 80:
        assert "conn.log:2" in out
    assert not any(re.search(rf"^ .*\b{name}\b", out, re.MULTILINE) for name in ("tenant", "what")[: width == 80])


@pytest.mark.parametrize("width", WIDTHS)
def test_detectors(home: Path, width: int) -> None:
    out = table(home, width, "detector", "list")
    assert re.search(r"^ beaconing .* 24 h every 6 h .*report_from = \d+", out, re.MULTILINE), out
    assert ("workers" in out) == (width == 120)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_timeline(home: Path, width: int) -> None:
    out = table(home, width, "cases", "history", story.CASE)
    for number, words in ((1, "suspicious medium 0.600"), (2, "malicious high 0.900"), (3, "malicious high 0.900")):
        assert re.search(rf"^ +{number}  {TIME} .*{words}", out, re.MULTILINE), out
    said = " ".join(re.sub(" +", " ", out).split())
    assert "looking at" in said


@pytest.mark.parametrize("width", WIDTHS)
def test_a_difference(home: Path, width: int) -> None:
    out = table(home, width, "cases", "diff", story.CASE, "1", "3")
    assert re.search(r"^ added, current +\S+ .*malicious +0\.900 +analysis 0", out, re.MULTILINE), out
    assert re.search(rf"^ +2  {TIME} ", out, re.MULTILINE), out
