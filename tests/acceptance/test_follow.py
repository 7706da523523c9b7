"""A sensor writes and rotates its logs, as sensors do, and `casetape feed --follow` reads them: each record is on the
tape once, the counts close, and what follows finds nothing new (I7; field reports, input rows 1, 22 and 24)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Answer, casetape, closes, run
from tests.acceptance.following import Follower, uids


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def line(number: int, stream: str = "conn") -> bytes:
    """One record in Zeek's JSON."""
    record = {"_path": stream, "ts": 1588205199 + number, "uid": f"C{number}", "id.orig_h": f"10.0.0.{number % 9}"}
    return json.dumps(record).encode() + b"\n"


def write(path: Path, *lines: bytes) -> Path:
    """Appends to a log."""
    with path.open("ab") as log:
        log.write(b"".join(lines))
    return path


def expected(*numbers: int) -> list[str]:
    """The uids of these lines."""
    return sorted(f"C{number}" for number in numbers)


def fed(home: Path, *paths: Path) -> dict[str, Any]:
    """The report of a usual feed."""
    report: dict[str, Any] = casetape(home, "feed", "--json", *paths).json
    return report


def nothing_new(home: Path, *paths: Path) -> bool:
    """Whether a usual feed of the same finds all of it fed already."""
    return bool(fed(home, *paths)["appended"] == 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_appended_is_on_the_tape_and_a_signal_ends_it(home: Path, logs: Path, number: signal.Signals) -> None:
    log = write(logs / "conn.log", line(0))
    with Follower(home, log) as follower:
        follower.until_fed(1)
        for at in range(1, 4):
            write(log, line(at)[:30])
            write(log, line(at)[30:])
            follower.until_fed(at + 1)
        report = follower.end(number)
    assert report == {"read": 4, "appended": 4, "already_fed": 0, "quarantined": 0, "untimed": 0}
    assert uids(home) == expected(0, 1, 2, 3)
    assert nothing_new(home, log)


def test_a_day_of_rotations(home: Path, logs: Path) -> None:
    """By rename, then packed by gzip itself; by a copy; by a symlink that moves on; and new files all along."""
    with Follower(home, logs) as follower:
        log = write(logs / "conn.log", *map(line, range(100)))
        follower.until_fed(100)
        write(log, line(100)).rename(logs / "conn.00.log")
        write(log, line(101), line(102)[:-1])
        follower.until_fed(102)
        write(log, b"\n")
        follower.until_fed(103)
        subprocess.run(["gzip", str(logs / "conn.00.log")], check=True)
        write(logs / "dns.log", *(line(at, "dns") for at in range(103, 110)))
        follower.until_fed(110)
        subprocess.run(["cp", str(log), str(logs / "conn.log.1")], check=True)
        os.truncate(log, 0)
        write(log, line(110))
        follower.until_fed(111)
        spool = logs.parent / "spool"
        spool.mkdir()
        write(spool / "http.log", line(111, "http"))
        (logs / "current").symlink_to(spool)
        follower.until_fed(112)
        report = follower.end()
    assert report["appended"] == 112
    assert report["quarantined"] == 0
    assert uids(home) == expected(*range(112))
    assert nothing_new(home, logs)
    ran = run(home)
    assert closes(ran)
    assert ran["recorded"] == 112


def test_a_cut_line_is_left_and_taken_by_whoever_comes_next(home: Path, logs: Path) -> None:
    """Row 1, for a log that is still written."""
    log = write(logs / "conn.log", line(0), line(1)[:40])
    with Follower(home, log) as follower:
        follower.until_fed(1)
        report = follower.end()
        told = [sentence for sentence in follower.said if "no line feed" in sentence]
    assert (report["read"], report["quarantined"], len(told)) == (1, 0, 1)
    write(log, line(1)[40:])
    with Follower(home, log) as follower:
        follower.until_fed(2)
        assert follower.end()["already_fed"] == 1
    assert uids(home) == expected(0, 1)


def test_a_burst_is_read_in_turns_and_none_of_it_is_dropped(home: Path, logs: Path) -> None:
    """Row 22: ten streams, ten times what comes otherwise; received = processed + quarantined."""
    with Follower(home, logs) as follower:
        for burst in range(3):
            for stream in range(10):
                start = burst * 20_000 + stream * 2_000
                bad = b"not a record\n" if burst == stream else b""
                write(logs / f"conn_{stream}.log", bad, *map(line, range(start, start + 2_000)))
        follower.until_fed(60_000)
        report = follower.end()
    assert (report["read"], report["appended"], report["quarantined"]) == (60_003, 60_000, 3)
    assert uids(home) == expected(*range(60_000))


def test_what_is_not_there_and_what_cannot_be_read_is_said_once(home: Path, logs: Path) -> None:
    write(logs / "app.log", b"prose\n")
    with Follower(home, logs, logs / "later") as follower:
        follower.until_told("later does not exist yet")
        follower.until_told("left out: ")
        (logs / "later").mkdir()
        write(logs / "later" / "conn.log", line(0))
        follower.until_fed(1)
        assert follower.end()["appended"] == 1
        assert len([one for one in follower.said if "left out" in one or "does not exist" in one]) == 2


def test_two_followers_of_one_folder_do_no_harm(home: Path, logs: Path) -> None:
    log = write(logs / "conn.log", *map(line, range(3_000)))
    with Follower(home, logs) as one, Follower(home, logs) as other:
        write(log, *map(line, range(3_000, 4_000)))
        one.until(lambda: len(set(uids(home))) == 4_000)
        reports = [one.end(), other.end()]
    assert all(report["quarantined"] == 0 for report in reports)
    assert nothing_new(home, logs)
    assert run(home)["recorded"] == 4_000


def test_feed_takes_several_paths_and_folders(home: Path, logs: Path) -> None:
    write(logs / "dns.log", line(0, "dns"))
    write(logs / "readme", b"prose\n")
    other = write(logs.parent / "conn.log", line(1), line(2))
    answer = casetape(home, "feed", "--json", logs, other)
    assert answer.json["appended"] == 3
    assert "left out" in answer.err
    assert uids(home) == expected(0, 1, 2)
    assert nothing_new(home, other, logs)


def refused(answer: Answer) -> bool:
    """Whether a request was wrong, and nothing was written."""
    return answer.code == 2 and answer.out == ""


def test_what_cannot_be_done_is_refused(home: Path, logs: Path) -> None:
    notes = [write(logs / f"{name}.txt", b"a note\n") for name in "ab"]
    assert refused(casetape(home, "feed", "--follow", "-"))
    assert refused(casetape(home, "feed", "--follow", "--whole", "--kind", "text", notes[0]))
    assert refused(casetape(home, "feed", "--request-id", "r", *notes))
    assert refused(casetape(home, "feed", notes[0], logs / "missing"))
    assert refused(casetape(home, "feed", "--follow", "--interval", "0", logs))
