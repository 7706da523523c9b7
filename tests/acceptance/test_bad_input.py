"""I7: bad input is quarantined with its bytes, a reason and where it came from; the next record is processed."""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import DAY1, Answer, casetape, closes, run
from tests.acceptance.logs import lines, write

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

GOOD = (
    b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","id.orig_p":5,"id.resp_h":"10.0.0.4","id.resp_p":53}\n'
)
CANARY = "s3cr3t-canary"
BAD = {
    "not JSON": b'{"_path":"conn","ts":1,"x":s3cr3t-canary}\n',
    "no object": b'["s3cr3t-canary"]\n',
    "bad UTF-8 (0xC1)": b'{"_path":"dns","ts":1588316619.5,"id.orig_h":"10.0.0.5","query":"a\xc1s3cr3t-canary"}\n',
    "bad UTF-8 (0xFF)": b'{"_path":"dns","ts":1588316619.5,"id.orig_h":"10.0.0.5","query":"a\xffb.ex"}\n',
    "a time in words": b'{"_path":"conn","ts":"2020-06-28T09:56:08Eastern Daylight Time","id.orig_h":"10.0.0.5"}\n',
    "NaN": b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","x":NaN}\n',
    "an infinite number": b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","x":1e400}\n',
    "half a surrogate pair": b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","x":"\\ud800"}\n',
    "too deep": b'{"_path":"conn","ts":1588316619.5,"x":' + b"[" * 400 + b"]" * 400 + b"}\n",
    "too large": b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","x":"' + b"a" * 1_000_000 + b'"}\n',
    "cut at the end": b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5","hist',
}


def _quarantine(home: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = casetape(home, "quarantine", "list", "--json").json
    return listed


def test_bad_lines_among_good_ones(tmp_path: Path) -> None:
    home = tmp_path / "home"
    content = [GOOD.replace(b"0.5", b"0.%d" % number) + line for number, line in enumerate(BAD.values(), 10)]
    report = run(home, write(tmp_path / "mixed.log", content))
    assert report["quarantined"] == len(BAD)
    assert report["recorded"] == len(BAD), "every good line, each about a host of its own"
    assert closes(report)
    listed = _quarantine(home)
    assert sorted(one["source"]["line"] for one in listed) == [2 * number for number in range(1, len(BAD) + 1)]
    assert {one["source"]["file"] for one in listed} == {str(tmp_path / "mixed.log")}
    assert all(one["reason"] and one["code"] for one in listed)
    assert CANARY not in json.dumps(listed), "reasons never hold what the line held"


def test_the_bytes_are_kept(tmp_path: Path) -> None:
    home, bad = tmp_path / "home", BAD["bad UTF-8 (0xC1)"]
    run(home, write(tmp_path / "conn.log", [GOOD, bad]))
    (one,) = _quarantine(home)
    shown = casetape(home, "quarantine", "show", one["id"], "--json").json
    assert base64.b64decode(shown["payload"]) == bad.rstrip(b"\n")


def test_strict_is_exit_1(tmp_path: Path) -> None:
    path = write(tmp_path / "conn.log", [GOOD, BAD["not JSON"]])
    assert casetape(tmp_path / "a", "run", path).code == 0
    assert casetape(tmp_path / "b", "run", "--strict", path).code == 1
    assert casetape(tmp_path / "b", "run", "--strict", path).code == 0, "the second time nothing new is quarantined"


def test_a_time_that_cannot_be_used(tmp_path: Path) -> None:
    """Kept, counted, never windowed: none, a clock before 2000, a clock far ahead."""
    odd = [
        GOOD.replace(b'"ts":1588316619.5,', b""),
        GOOD.replace(b"1588316619.5", b"12.5"),
        GOOD.replace(b"1588316619.5", b"9588316619.5"),
    ]
    report = run(tmp_path / "home", write(tmp_path / "conn.log", odd))
    assert (report["recorded"], report["quarantined"], report["late"]) == (3, 0, 0)


def _refused(answer: Answer, *words: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert all(word in answer.err for word in words), answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("verb", ["run", "feed"])
def test_what_is_no_input(tmp_path: Path, verb: str) -> None:
    """A clear error, exit 2, nothing written: also where a good file stands before it."""
    home = tmp_path / "home"
    binary = write(tmp_path / "photo.log", [os.urandom(4096)])
    strange = write(tmp_path / "strange.log", [b"a,b,c\n1,2,3\n" * 20])
    packed = tmp_path / "binary.gz"
    packed.write_bytes(gzip.compress(os.urandom(4096)))
    good = write(tmp_path / "conn.log", [GOOD])
    _refused(casetape(home, verb, tmp_path / "missing.log"), "missing.log")
    for path in (binary, packed):
        _refused(casetape(home, verb, path), path.name)
    if verb == "run":
        _refused(casetape(home, "run", good, binary), "photo.log")
        _refused(casetape(home, "run", good, "--kind", "nonsense"), "nonsense")
        _refused(casetape(home, "run", good, "--policy", "nonsense"), "nonsense")
    else:
        _refused(casetape(home, "feed", strange, "--kind", "zeek"), "strange.log")
    assert not home.exists()


def test_settings_that_are_wrong(tmp_path: Path) -> None:
    good = write(tmp_path / "conn.log", [GOOD])
    _refused(casetape(tmp_path / "h", "run", good, env={"CASETAPE_WROKERS": "2"}), "CASETAPE_WROKERS")
    config = write(tmp_path / "casetape.toml", [b"wrokers = 2\n"])
    _refused(casetape(tmp_path / "h", "run", good, env={"CASETAPE_CONFIG": str(config)}), "wrokers")
    _refused(casetape(tmp_path / "h", "run", good, "--policy", "trust-order", "--policy-option", "odrer=a"), "odrer")
    assert not (tmp_path / "h").exists()


def test_a_growing_log_is_read_on(tmp_path: Path) -> None:
    """Field reports, row 24: a rolling import sees new rows, once."""
    home, path = tmp_path / "home", tmp_path / "conn.log"
    rows = [line for line in lines(DAY1) if b'"conn"' in line]
    write(path, rows[:200])
    assert run(home, path)["recorded"] == 200
    write(path, rows[:300])
    grown = run(home, path)
    assert (grown["fed"], grown["recorded"], grown["duplicates"]) == (300, 100, 200)
    assert closes(grown)
