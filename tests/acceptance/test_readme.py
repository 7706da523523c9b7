"""What the documents show works as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.command import casetape, run
from tests.acceptance.logs import write

ROOT = Path(__file__).parents[2]
SENTENCE = b"a build server opened outbound connections at 02:00\n"


def _python(document: str) -> list[str]:
    text = (ROOT / document).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_first_plug_in(tmp_path: Path) -> None:
    (code,) = _python("README.md")
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "small_hours.py").write_text(code)
    home = tmp_path / "home"
    assert casetape(home, "feed", "-", "--kind", "text", "--subject", "host:10.0.0.5", stdin=SENTENCE).code == 0
    report = run(home, "--plugins", plugins)
    assert (report["backlog"], report["recorded"], report["analyses"], report["faults"]) == (1, 1, 1, 0)
    (said,) = casetape(home, "cases", "show", "host:10.0.0.5", "--json").json["analyses"]
    assert (said["detector"], said["title"]) == ("small-hours", "Somebody was up at two")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_detectors_of_the_how_to_are_taken(tmp_path: Path, place: int) -> None:
    code = _python("docs/how-to/write-a-detector.md")[place]
    (tmp_path / "example.py").write_text(code)
    listed = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path, "--json").json
    assert listed["refused"] == []
    assert {one["name"] for one in listed["detectors"]} > {"recorder", "beaconing"}


def test_a_detector_of_the_how_to_finds_something(tmp_path: Path) -> None:
    code = _python("docs/how-to/write-a-detector.md")[0]
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "example.py").write_text(code)
    line = b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","id.resp_h":"203.0.113.9","id.resp_p":4444}\n'
    report = run(tmp_path / "home", write(tmp_path / "conn.log", [line]), "--plugins", plugins)
    assert (report["analyses"], report["faults"]) == (1, 0)
