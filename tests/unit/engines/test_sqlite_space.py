"""The disk under the file: what is freed is used again, then given back, beside those who are at work."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from engines.engine import Engine
from engines.log import NewRecord, TopicPartition
from engines.sizes import Space, SpaceUse
from engines.sqlite import FILE, open_engine
from engines.sqlite.connection import WAL_BYTES, WAL_PAGES

AT = TopicPartition("t", 0)
MIB = 1024 * 1024
ROOT = Path(__file__).parents[3]


def burst(engine: Engine, mib: int) -> None:
    """So many MiB that no compression makes smaller."""
    engine.log.create_topic("t", 1)
    chance = random.Random(mib)
    for _ in range(mib):
        engine.log.append("t", [NewRecord("k", chance.randbytes(MIB))])


def space(engine: Engine) -> Space:
    assert engine.space is not None
    return engine.space


def given_back(engine: Engine) -> int:
    total = 0
    while gone := space(engine).give_back(MIB):
        assert gone <= 2 * MIB
        total += gone
    return total


def test_the_disk_follows_what_is_kept(tmp_path: Path) -> None:
    """Field reports, second table, row 8."""
    with open_engine(tmp_path) as engine:
        burst(engine, 60)
        full = space(engine).use()
        engine.log.trim(AT, 55)
        trimmed = space(engine).use()
        assert trimmed.free > 50 * MIB
        assert given_back(engine) > 40 * MIB
        left = space(engine).use()
        assert left.free <= 9 * MIB
        assert (tmp_path / FILE).stat().st_size == left.file == left.data < full.data - 40 * MIB
        assert left.beside < MIB
        assert len(engine.log.read(AT, 0, 100)) == 5
        engine.log.append("t", [NewRecord("k", bytes(9))])
        assert given_back(engine) == 0, "a little stays for what comes next"
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_is_freed_is_used_again(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        burst(engine, 10)
        size = space(engine).use().data
        for turn in range(2, 6):
            engine.log.trim(AT, (turn - 1) * 10)
            burst(engine, 10)
        assert space(engine).use().data < size + 2 * MIB


READER = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN")
file.execute("SELECT count(*) FROM batches").fetchone()
print("reading", flush=True)
sys.stdin.readline()
file.execute("COMMIT")
print("done", flush=True)
sys.stdin.readline()
"""


def test_the_write_ahead_log_is_cut_once_a_slow_reader_is_done(tmp_path: Path) -> None:
    """A reader that stands still in the middle of a read keeps the log from being written back, and nothing more."""
    with open_engine(tmp_path) as engine:
        burst(engine, 1)
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(tmp_path / FILE)], text=True, stdin=-1, stdout=-1, cwd=ROOT
        )
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        burst(engine, 100)
        assert space(engine).use().beside > WAL_BYTES, "it has to grow as long as the reader needs it"
        engine.log.trim(AT, 90)
        space(engine).give_back(MIB)
        reader.stdin.write("go on\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "done\n"
        given_back(engine)
        assert space(engine).use().beside < 3 * WAL_PAGES * 4096
        reader.communicate("\n")
        assert len(engine.log.read(AT, 0, 200)) == 11


def test_giving_back_beside_a_writer(tmp_path: Path) -> None:
    program = (
        "import sys, os; from pathlib import Path; from engines.sqlite import open_engine;"
        "from engines.log import NewRecord; engine = open_engine(Path(sys.argv[1])); print('ready', flush=True);"
        "[engine.log.append('u', [NewRecord('k', b'%d ' % n + os.urandom(2000))]) for n in range(400)]; engine.close()"
    )
    with open_engine(tmp_path) as engine:
        engine.log.create_topic("u", 1)
        burst(engine, 60)
        engine.log.trim(AT, 60)
        writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], text=True, stdout=-1, cwd=ROOT)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        assert given_back(engine) > 40 * MIB
        assert writer.wait() == 0
        found = engine.log.read(TopicPartition("u", 0), 0, 1_000)
        assert [int(one.value.split()[0]) for one in found] == list(range(400))


def test_the_use_of_a_home_that_is_only_read(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        burst(engine, 2)
    before = (tmp_path / FILE).read_bytes()
    with open_engine(tmp_path, read_only=True) as engine:
        use = space(engine).use()
    assert use == SpaceUse(str(tmp_path / FILE), len(before), len(before), use.free, use.beside)
    assert (tmp_path / FILE).read_bytes() == before
