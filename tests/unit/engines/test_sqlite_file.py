"""The file of the embedded engine: how it is opened, and what is refused."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engines.log import NewRecord, TopicPartition
from engines.sqlite import FILE, open_engine
from engines.sqlite.connection import WAL_PAGES
from schemas.errors import EngineError, StorageReadOnly, UsageError


def test_the_home_is_made_with_everything_above_it(tmp_path: Path) -> None:
    home = tmp_path / "above" / "ho me?#%"
    with open_engine(home) as engine:
        engine.log.create_topic("t", 1)
    assert (home / FILE).exists()
    with open_engine(home, create=False) as engine:
        assert engine.log.partitions("t") == 1


@pytest.mark.parametrize("read_only", [False, True])
def test_nothing_is_made_where_only_something_there_is_asked_for(tmp_path: Path, read_only: bool) -> None:
    home = tmp_path / "home"
    with pytest.raises(EngineError, match="no casetape data"):
        open_engine(home, create=False, read_only=read_only)
    assert not home.exists()


def test_a_home_that_is_a_file_is_a_mistake_in_the_request(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    with pytest.raises(UsageError, match="home"):
        open_engine(tmp_path / "home")
    with pytest.raises(UsageError, match="home"):
        open_engine(tmp_path / "home" / "below")


def test_a_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    open_engine(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE about SET schema = 99")
    connection.commit()
    connection.close()
    for read_only in (False, True):
        with pytest.raises(EngineError, match=f"{FILE} has format 99"):
            open_engine(tmp_path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, read_only: bool) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 1_000)
    with pytest.raises(EngineError, match=FILE):
        open_engine(tmp_path, read_only=read_only)
    assert (tmp_path / FILE).read_bytes() == b"not a database" * 1_000


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.log.create_topic("t", 1)
        for number in range(200):
            engine.log.append("t", [NewRecord("k", b"%d" % number * 500)])
    damaged = bytearray((tmp_path / FILE).read_bytes())
    damaged[4096:] = b"\xa5" * (len(damaged) - 4096)
    (tmp_path / FILE).write_bytes(damaged)
    with pytest.raises(EngineError, match=FILE), open_engine(tmp_path) as engine:
        engine.log.read(TopicPartition("t", 0), 0, 100)


def test_a_reader_that_may_not_write_does_not(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.log.create_topic("t", 1)
        engine.log.append("t", [NewRecord("k", b"v")])
    with open_engine(tmp_path, read_only=True) as reader:
        assert [record.value for record in reader.log.read(TopicPartition("t", 0), 0, 9)] == [b"v"]
        with pytest.raises(StorageReadOnly):
            reader.log.append("t", [NewRecord("k", b"w")])
        with pytest.raises(StorageReadOnly):
            reader.store.move_note("a", None, b"b")


def test_a_reader_sees_what_a_writer_appends(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine, open_engine(tmp_path, read_only=True) as reader:
        engine.log.create_topic("t", 1)
        for number in range(5):
            engine.log.append("t", [NewRecord("k", b"v")])
            assert reader.log.end_offsets("t") == {0: number + 1}


def test_processes_that_open_a_new_home_at_once_all_get_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from engines.sqlite import open_engine; sys.stdin.readline();"
        "engine = open_engine(Path(sys.argv[1])); engine.log.create_topic('t', 4); print(engine.log.partitions('t'))"
    )
    root = Path(__file__).parents[3]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "home")], cwd=root, text=True, stdin=-1, stdout=-1, stderr=-1
        )
        for _ in range(6)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [child.communicate() for child in children] == [("4\n", "")] * 6


def test_the_write_ahead_log_stays_bounded_beside_a_reader(tmp_path: Path) -> None:
    """Readers leave nothing open between calls, so that the log is written back under them."""
    chance = random.Random(7)
    with open_engine(tmp_path) as engine, open_engine(tmp_path) as reader:
        engine.log.create_topic("t", 1)
        consumer = reader.log.consumer("g", ["t"])
        read = 0
        for _ in range(60):
            engine.log.append("t", [NewRecord("k", chance.randbytes(1_000_000))])
            read += sum(len(batch.records) for batch in consumer.poll(1, 1.0))
        consumer.close()
        assert read == 60
        assert (tmp_path / f"{FILE}-wal").stat().st_size < 2 * WAL_PAGES * 4096


def test_every_table_is_accounted_for(tmp_path: Path) -> None:
    """What grows with what stands at the head of the schema."""
    open_engine(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    schema = (Path(__file__).parents[3] / "engines/sqlite/schema.sql").read_text()
    head = schema.partition("CREATE TABLE")[0]
    named = {
        name.strip(" ,-") for line in head.splitlines() if line.startswith("--   ") for name in line[5:29].split(",")
    }
    assert tables - {"about"} == named
