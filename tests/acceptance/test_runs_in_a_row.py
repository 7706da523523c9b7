"""Several runs on one home: what an earlier one concluded on half of a window is settled by the later one; a detector
that comes later can be shown what was fed before; runs take turns."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.command import DAY1, casetape, closes, command, current, environment, picture, run
from tests.acceptance.logs import lines, write

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

START = 1_588_300_000.0
CONN = (
    '{{"_path":"conn","ts":{ts:.6f},"uid":"C{uid}","id.orig_h":"10.0.0.9","id.orig_p":5,"id.resp_h":"203.0.113.50",'
    '"id.resp_p":443,"proto":"tcp","service":"ssl","orig_bytes":{sent},"resp_bytes":900,"conn_state":"SF"}}\n'
)
NOTES = b"opened outbound connections at 02:00\nnothing else\nagain at 02:00\n"
SMALL_HOURS = """
from casetape import Finding, detector

@detector("small-hours", version="{version}", kinds=["text"])
def small_hours(observation):
    if "02:00" in observation.text:
        return Finding("suspicious", score=0.7, fingerprint="night {version}", title="Somebody was up at two")
"""


def _regular(path: Path) -> Path:
    rows = (CONN.format(ts=START + 60 * n, uid=f"a{n}", sent=300) for n in range(120))
    return write(path, (row.encode() for row in rows))


def _irregular(path: Path) -> Path:
    random_ = random.Random(5)
    times = sorted(START + random_.random() * 7_200 for _ in range(6_000))
    rows = (CONN.format(ts=at, uid=f"b{n}", sent=random_.randrange(90, 9_000)) for n, at in enumerate(times))
    return write(path, (row.encode() for row in rows))


def test_what_half_a_window_said_is_taken_back(tmp_path: Path) -> None:
    """Alone the first file is a beacon; with the second, of the same pair and time, there is none to be seen."""
    regular, irregular = _regular(tmp_path / "a.json"), _irregular(tmp_path / "b.json")
    run(tmp_path / "both", regular, irregular)
    assert current(tmp_path / "both") == []
    home = tmp_path / "row"
    run(home, regular)
    (before,) = current(home)
    assert (before["verdict"], before["severity"]) == ("suspicious", "high")
    run(home, irregular)
    (after,) = current(home)
    assert (after["fingerprint"], after["verdict"], after["score"]) == (before["fingerprint"], "unknown", 0.0)
    assert after["evidence"]["total"] == 6_120
    (row,) = casetape(home, "cases", "list", "--json").json
    assert (row["verdict"], row["score"]) == ("unknown", 0.0)
    assert before["id"] in {one["id"] for one in _all(home)}, "it stays in the history (I3)"


def test_what_a_killed_run_had_just_said_is_taken_back_too(tmp_path: Path) -> None:
    """The worker dies between saying it and its next snapshot, and the run with it; then more of the window comes."""
    home = tmp_path / "home"
    going = subprocess.Popen(
        command("run", _regular(tmp_path / "a.json")),
        env=environment(home, {"CASETAPE_FAIL_POINT": "worker.published"}),
        stderr=subprocess.PIPE,
    )
    assert going.stderr is not None
    assert b"started again" in going.stderr.readline()
    going.kill()
    going.wait()
    assert run(home, _irregular(tmp_path / "b.json"))["recorded"] == 6_000
    (after,) = current(home)
    assert (after["verdict"], after["score"], after["evidence"]["total"]) == ("unknown", 0.0, 6_120)


def _all(home: Path) -> list[dict[str, str]]:
    shown = casetape(home, "cases", "show", "host:10.0.0.9", "--all", "--json").json
    analyses: list[dict[str, str]] = shown["analyses"]
    return analyses


def test_a_log_that_comes_in_pieces(tmp_path: Path) -> None:
    """Six runs over a cut-up log come to what one run comes to."""
    run(tmp_path / "whole", DAY1)
    content = lines(DAY1)
    size = -(-len(content) // 6)
    for number in range(6):
        run(tmp_path / "pieces", write(tmp_path / f"{number}.json", content[number * size : (number + 1) * size]))
    assert picture(tmp_path / "pieces") == picture(tmp_path / "whole")


def test_a_detector_that_comes_later(tmp_path: Path) -> None:
    home, plugins = tmp_path / "home", tmp_path / "plugins"
    plugins.mkdir()
    notes = write(tmp_path / "notes.txt", [NOTES])
    assert run(home, notes, DAY1)["recorded"] == 2_143
    before = picture(home)
    (plugins / "small_hours.py").write_text(SMALL_HOURS.format(version=1))
    said = casetape(home, "run", "--plugins", plugins, "--json")
    assert said.json["analyses"] == 0
    assert "small-hours" in said.err
    assert "--replay" in said.err
    replayed = run(home, "--plugins", plugins, "--replay")
    assert (replayed["analyses"], replayed["recorded"], replayed["fed"]) == (2, 0, 0)
    assert closes(replayed)
    after = picture(home)
    assert {key: after[key] for key in before if before[key]["analyses"]} == {
        key: case for key, case in before.items() if case["analyses"]
    }, "what others said before they say again, to no effect"
    again = casetape(home, "run", "--plugins", plugins, "--replay", "--json")
    assert (again.json["analyses"], again.json["versions"], again.err) == (0, 0, "")
    (plugins / "small_hours.py").write_text(SMALL_HOURS.format(version=2))
    assert run(home, "--plugins", plugins, "--replay")["analyses"] == 2
    assert casetape(home, "cases", "verify", "--json").json["faults"] == []


def test_runs_take_turns(tmp_path: Path) -> None:
    """One that waits for its input holds the home; the other waits, says so, and counts only its own."""
    home = tmp_path / "home"
    first = subprocess.Popen(
        command("run", "-", "--json"),
        env=environment(home, {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert first.stdin is not None
    content = lines(DAY1)
    first.stdin.write(b"".join(content[:500]))
    first.stdin.flush()
    while not (home / "casetape.lock").exists():
        assert first.poll() is None
    second = subprocess.Popen(
        command("run", "--json", DAY1),
        env=environment(home, {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert second.stderr is not None
    assert b"another run is at work" in second.stderr.readline()
    first.stdin.write(b"".join(content[500:]))
    first.stdin.close()
    assert first.wait(120) == 0
    out, _ = second.communicate(timeout=120)
    assert second.returncode == 0
    assert b'"recorded": 0' in out
    assert b'"duplicates": 2140' in out


def test_what_lies_in_the_working_folder_is_not_run(tmp_path: Path) -> None:
    """A folder of logs may hold a `json.py`, or a clone of casetape."""
    (tmp_path / "json.py").write_text("raise SystemExit('owned')\n")
    (tmp_path / "casetape").mkdir()
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "small_hours.py").write_text(SMALL_HOURS.format(version=1))
    write(tmp_path / "notes.txt", [NOTES])
    # -P here as well, as the installed command has it: the console script's folder is not the working one
    args = [*command("run", "notes.txt", "--plugins", "plugins", "--json")]
    done = subprocess.run(
        [args[0], "-P", *args[1:]],
        cwd=tmp_path,
        env=environment(tmp_path / "home", {}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b'"analyses": 2' in done.stdout
