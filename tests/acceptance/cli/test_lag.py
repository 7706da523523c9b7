"""`casetape lag` for people: the partitions that wait, whole, and how many do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.cli.piped import casetape

LINES = "".join(f'{{"_path":"conn","ts":15883166{n}.5,"id.orig_h":"10.0.0.5"}}\n' for n in range(10, 14))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with four records to handle, all of one case and so in one partition of eight."""
    folder = tmp_path_factory.mktemp("lag")
    (folder / "conn.log").write_text(LINES)
    assert casetape(folder / "home", "feed", folder / "conn.log").code == 0
    return folder / "home"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_waits(home: Path, width: int) -> None:
    out = casetape(home, "lag", env={"COLUMNS": str(width)}).out
    assert max(map(len, out.splitlines())) <= width
    assert "4 records to handle" in out
    (row,) = re.findall(r"^ detect-default .*$", out, re.MULTILINE)
    assert re.search(r"^ detect-default +observations\[\d\] +4 .*\d+ (s|min)", row)
    assert bool(re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row)) == (width >= 80)
    assert "merger" not in out
    assert "and 15 partitions idle, with nothing to handle" in out
    assert ("committed" in out) == (width == 120)


def test_json_has_all(home: Path) -> None:
    found = casetape(home, "lag", "--json").json
    assert (len(found), sum(one["waiting"] for one in found)) == (16, 4)


def test_nothing_waits(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert casetape(home, "run").code == 0
    assert casetape(home, "lag").out == "everything is handled: 16 partitions idle, with nothing to handle\n"
