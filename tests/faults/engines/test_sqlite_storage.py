"""A full disk and a home that cannot be written, on real mounts in a mount namespace of the test's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from engines.log import NewRecord, TopicPartition
from engines.sqlite import FILE, open_engine
from tests.conformance.lines import CASE, GENESIS, commit

ROOT = Path(__file__).parents[3]
pytestmark = [
    pytest.mark.needs_root,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts need root on Linux"),
]


def mounted(mount: str, program: str, home: Path) -> dict[str, Any]:
    """Runs `program` in a mount namespace of its own, after the `mount` command on `$1`; what it prints, as JSON."""
    prelude = """
        import json, os, sys
        from pathlib import Path
        from engines.log import NewRecord, TopicPartition
        from engines.sqlite import open_engine
        from schemas.errors import EngineError, StorageFull, StorageReadOnly
        from tests.conformance.lines import CASE, GENESIS, commit, content, head_after, version
        home = Path(sys.argv[1])
        AT = TopicPartition("t", 0)
    """
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f'{mount} && exec "$2" -c "$3" "$1"', "sh", home, sys.executable,
         textwrap.dedent(prelude) + textwrap.dedent(program)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


SMALL = 'mount -t tmpfs -o size=3m tmpfs "$1"'
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'


def test_an_append_on_a_full_disk_leaves_nothing_half_written_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """I7."""
    said = mounted(
        SMALL,
        """
        ballast = home / "ballast"
        ballast.write_bytes(bytes(1_000_000))
        engine = open_engine(home)
        engine.log.create_topic("t", 1)
        def records(turn):
            return [NewRecord("k", b"%d " % turn + os.urandom(20_000)) for _ in range(5)]
        appended, failures, turn = [], [], 0
        while len(failures) < 3:
            try:
                engine.log.append("t", records(turn))
                appended.append(turn)
            except EngineError as error:
                failures.append([type(error).__name__, error.retriable, str(home) in str(error)])
            turn += 1
        seen = [int(r.value.split()[0]) for r in engine.log.read(AT, 0, 10_000)]
        whole = seen == [turn for turn in appended for _ in range(5)]
        ballast.unlink()
        engine.log.append("t", records(turn))
        engine.close()
        engine = open_engine(home, create=False)
        after = [int(r.value.split()[0]) for r in engine.log.read(AT, 0, 10_000)]
        print(json.dumps({"failures": failures, "appended": len(appended), "whole": whole,
                          "goes_on": after == seen + [turn] * 5, "offsets": engine.log.end_offsets("t")[0]}))
        """,
        tmp_path,
    )
    assert said["failures"] == [["StorageFull", True, True]] * 3
    assert said["appended"] > 0
    assert said["whole"]
    assert said["goes_on"]
    assert said["offsets"] == 5 * (said["appended"] + 1)


def test_a_commit_on_a_full_disk_leaves_the_line_as_it_was(tmp_path: Path) -> None:
    """I5: all of a commit or nothing of it."""
    said = mounted(
        SMALL,
        """
        ballast = home / "ballast"
        ballast.write_bytes(bytes(1_000_000))
        engine = open_engine(home)
        head, failed = GENESIS, None
        while failed is None:
            large = version(head.number + 1)._replace(record=os.urandom(50_000))
            one = commit(CASE, head, [large])
            try:
                assert engine.store.commit([one]) == [True]
                head = head_after(one)
            except EngineError as error:
                failed = error
        untouched = engine.store.heads([CASE]) == {CASE: head}
        line = [v.number for v in engine.store.versions(CASE, 0, 10_000)]
        known = engine.store.known(CASE, [one.versions[0].contents[0].id])
        ballast.unlink()
        again = engine.store.commit([one])
        print(json.dumps({"failed": type(failed).__name__, "untouched": untouched, "committed": head.number,
                          "line": line == list(range(1, head.number + 1)), "known": len(known), "again": again}))
        """,
        tmp_path,
    )
    assert said.pop("committed") > 0
    assert said == {"failed": "StorageFull", "untouched": True, "line": True, "known": 0, "again": [True]}


def test_a_full_disk_at_the_first_opening(tmp_path: Path) -> None:
    said = mounted(
        SMALL,
        """
        ballast = home / "ballast"
        try:
            ballast.write_bytes(bytes(4_000_000))
        except OSError:
            pass
        said = []
        try:
            open_engine(home)
        except EngineError as error:
            said.append(type(error).__name__)
        ballast.unlink()
        engine = open_engine(home)
        engine.log.create_topic("t", 1)
        print(json.dumps({"said": said, "topic": engine.log.partitions("t")}))
        """,
        tmp_path,
    )
    assert said == {"said": ["StorageFull"], "topic": 1}


READING = """
    said = {}
    try:
        open_engine(home)
    except EngineError as error:
        said["writer"] = [type(error).__name__, str(home) in str(error)]
    try:
        engine = open_engine(home, read_only=True)
        said["read"] = [r.value.decode() for r in engine.log.read(AT, 0, 9)]
        said["cases"] = [row.key for row in engine.store.cases("acme")]
        try:
            engine.store.move_note("a", None, b"b")
        except EngineError as error:
            said["write"] = type(error).__name__
    except EngineError as error:
        said["refused"] = [type(error).__name__, str(error)]
    print(json.dumps(said))
"""
READ = {"writer": ["StorageReadOnly", True], "read": ["v"], "cases": [CASE], "write": "StorageReadOnly"}


def fill(home: Path) -> None:
    """One record and one case."""
    with open_engine(home) as engine:
        engine.log.create_topic("t", 1)
        engine.log.append("t", [NewRecord("k", b"v")])
        assert engine.store.commit([commit(CASE, GENESIS)]) == [True]


def fill_and_die(home: Path) -> None:
    """The same by a process that dies: its write-ahead log stays behind."""
    child = os.fork()
    if child == 0:
        try:
            fill_without_closing(home)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert (home / f"{FILE}-wal").stat().st_size > 0


def fill_without_closing(home: Path) -> None:
    """The same, and the file stays open."""
    engine = open_engine(home)
    engine.log.create_topic("t", 1)
    engine.log.append("t", [NewRecord("k", b"v")])
    engine.store.commit([commit(CASE, GENESIS)])


def test_a_read_only_home_can_be_read(tmp_path: Path) -> None:
    fill(tmp_path)
    assert mounted(READ_ONLY, READING, tmp_path) == READ


def test_a_read_only_home_whose_writer_died_can_be_read(tmp_path: Path) -> None:
    fill_and_die(tmp_path)
    assert mounted(READ_ONLY, READING, tmp_path) == READ


def test_a_read_only_home_is_refused_rather_than_read_in_part(tmp_path: Path) -> None:
    """I7: what the dead writer left cannot be read without shared memory, and must not be passed over."""
    fill_and_die(tmp_path)
    (tmp_path / f"{FILE}-shm").unlink()
    said = mounted(READ_ONLY, READING, tmp_path)
    kind, message = said["refused"]
    assert kind == "StorageReadOnly"
    assert "copy the folder" in message


def test_a_home_that_another_mount_is_writing_to_can_be_read(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        engine.log.create_topic("t", 1)
        engine.log.append("t", [NewRecord("k", b"v")])
        engine.store.commit([commit(CASE, GENESIS)])
        assert mounted(READ_ONLY, READING, tmp_path) == READ
        assert engine.log.end_offsets("t") == {0: 1}
    with open_engine(tmp_path) as engine:
        assert len(engine.log.read(TopicPartition("t", 0), 0, 9)) == 1


def test_a_home_cannot_be_made_on_a_read_only_mount(tmp_path: Path) -> None:
    said = mounted(
        READ_ONLY,
        """
        try:
            open_engine(home / "new")
        except EngineError as error:
            print(json.dumps({"said": type(error).__name__, "names": str(home / "new") in str(error)}))
        """,
        tmp_path,
    )
    assert said == {"said": "StorageReadOnly", "names": True}
