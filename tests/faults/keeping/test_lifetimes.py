"""Field reports, second table, row 13: every kind of thing that is kept has an owner and a lifetime, and whoever adds a
kind has to say so here."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from casetape import keeping, standing
from engines.sqlite import FILE, open_engine
from engines.topics import ALL
from tests.tree import PACKAGES, ROOT, sources
from workers.feed import ledger, quarantine
from workers.people import requests

PAGE = ROOT / "docs" / "explanation" / "storage.md"
NOTES = {ledger.PREFIX, quarantine.REQUEUED, requests.PREFIX, standing.KEY, keeping.CURSOR}
WRITERS = {
    "move_note": {
        "casetape/keeping.py",
        "casetape/standing.py",
        "workers/feed/ledger.py",
        "workers/feed/quarantine.py",
        "workers/people/requests.py",
    },
    "put_part": {"workers/detection/partition.py"},
    "move_manifest": {"workers/detection/partition.py"},
}
"""Who writes what has no table of its own. A new one needs a row of the page and, where it removes what is old, a
test."""


def rows() -> list[list[str]]:
    """The rows of the page's table of lifetimes."""
    table = PAGE.read_text(encoding="utf-8").partition("| what | kind |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


def test_the_page_lists_everything_that_is_kept(tmp_path: Path) -> None:
    open_engine(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    said = [(row[0].partition(" `")[0], re.findall(r"`([^`]+)`", row[0])) for row in rows()]
    assert {name for kind, names in said for name in names if kind == "topic"} == set(ALL)
    assert {name for kind, names in said for name in names if kind == "note"} == NOTES
    listed = {name for kind, names in said for name in names if kind not in ("topic", "note")}
    assert listed == tables - {"about"}


def test_each_has_a_kind_an_owner_and_a_lifetime() -> None:
    for what, kind, owner, how_long in rows():
        assert kind in ("authoritative", "derived", "cache"), what
        assert owner, what
        assert how_long, what


def test_nobody_else_writes_keys() -> None:
    code = [path for path in sources() if path.parts[0] in PACKAGES and path.parts[0] != "engines"]
    for call, writers in WRITERS.items():
        found = {path.as_posix() for path in code if f".{call}(" in (ROOT / path).read_text(encoding="utf-8")}
        assert found == writers, call
