"""A file of an earlier casetape is brought up to date by whoever writes to it first, and says so to whoever reads."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engines.sqlite import FILE, open_engine
from engines.sqlite.form import FORMAT
from engines.topics import ALL
from merge.history import history, state_at
from merge.merger import Merger
from merge.verify import verify
from schemas.errors import EngineError
from tests import factories
from tests.faults.merge.homes import batch

ROOT = Path(__file__).parents[3]
OLD = ROOT / "tests" / "fixtures" / "format-1" / "casetape.db.gz"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / FILE).write_bytes(gzip.decompress(OLD.read_bytes()))
    return tmp_path


def shape(path: Path) -> dict[str, object]:
    """The columns of all tables, and the indexes."""
    with closing(sqlite3.connect(path / FILE)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        columns = {name: file.execute(f"PRAGMA table_info({name})").fetchall() for name in tables}
        indexes = file.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY name")
        return {**columns, "indexes": indexes.fetchall(), "format": file.execute("SELECT schema FROM about").fetchone()}


def test_it_comes_to_the_same_form_as_a_new_one(home: Path, tmp_path: Path) -> None:
    open_engine(home).close()
    open_engine(tmp_path / "new").close()
    assert shape(home) == shape(tmp_path / "new")
    assert shape(home)["format"] == (FORMAT,)


def test_nothing_of_it_is_lost_and_it_goes_on(home: Path) -> None:
    with open_engine(home) as engine:
        report = verify(engine.store, engine.log)
        assert (report.faults, report.cases, report.versions) == ((), 2, 5)
        sizes = engine.store.sizes()
        assert (sizes.cases, sizes.versions.count, sizes.contents) == (2, 5, 10)
        with closing(sqlite3.connect(home / FILE)) as file:
            for topic, number in file.execute("SELECT name, id FROM topics").fetchall():
                held = file.execute("SELECT coalesce(sum(length(body)), 0) FROM batches WHERE topic_id = ?", (number,))
                assert (sum(engine.log.stored_bytes(topic).values()),) == held.fetchone()
            held = file.execute("SELECT sum(length(record) + length(contents)) FROM versions")
            assert (sizes.versions.bytes,) == held.fetchone()
        assert set(ALL) >= {topic for topic in ALL if engine.log.partitions(topic)}
        Merger(engine.log, engine.store).handle(batch([factories.finding(9)]))
        assert [one.number for one in history(engine.store, factories.CASE)] == [1, 2, 3, 4, 5]
        assert len(state_at(engine.store, factories.CASE).inputs) == 5
        assert engine.space is not None
        assert engine.space.give_back(1 << 30) == 0, "it uses its free pages again, and gives none back"


def test_who_only_reads_is_told_what_to_do(home: Path) -> None:
    before = (home / FILE).read_bytes()
    with pytest.raises(EngineError, match=r"format 1.*`casetape run` brings it up to date"):
        open_engine(home, read_only=True)
    assert (home / FILE).read_bytes() == before
    open_engine(home, create=False).close()
    open_engine(home, read_only=True).close()


def test_processes_that_come_at_once_bring_it_up_once(home: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from engines.sqlite import open_engine; sys.stdin.readline();"
        "engine = open_engine(Path(sys.argv[1])); print(engine.store.sizes().versions.count)"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(home)], cwd=ROOT, text=True, stdin=-1, stdout=-1, stderr=-1
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.communicate() for child in children] == [("5\n", "")] * 4
