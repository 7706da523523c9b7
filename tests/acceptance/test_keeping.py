"""What a home keeps, through the command line: with old versions on the tape only everything looks as it did (I2), and
nothing grows that has a bound (field reports, second table, rows 8 and 20)."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.sqlite import FILE
from tests.acceptance.command import DAY1, DAY2, casetape, closes, environment, picture, run
from tests.acceptance.logs import write
from tests.faults.merge.long import CASE, LENGTH, grown

KEEP = {"CASETAPE_KEEP_VERSIONS": "100", "CASETAPE_PARTITIONS": "2"}
PRUNED = 576
MIB = 1024 * 1024
QUESTIONS = [
    ("cases", "list", "--json"),
    ("cases", "show", CASE),
    ("cases", "show", CASE, "--json"),
    ("cases", "show", CASE, "--all"),
    *(("cases", "show", CASE, "--json", "--at", str(number)) for number in (0, 1, 64, 100, 300, PRUNED, PRUNED + 1)),
    ("cases", "show", CASE, "--all", "--json", "--at", "301"),
    ("cases", "show", CASE, "--at", "200"),
    ("cases", "history", CASE),
    ("cases", "history", CASE, "--json"),
    ("cases", "diff", CASE, "0", "5"),
    ("cases", "diff", CASE, "290", "310", "--json"),
    ("cases", "diff", CASE, "650", "3", "--json"),
    ("cases", "export", CASE),
]


@pytest.fixture(scope="module")
def long_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long")
    grown(path, LENGTH)
    return path


def answers(home: Path) -> list[str]:
    found = [casetape(home, *question) for question in QUESTIONS]
    assert [one.code for one in found] == [0] * len(QUESTIONS), [one.err for one in found if one.code]
    return [one.out for one in found]


def test_everything_looks_as_it_did(long_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(long_home, tmp_path / "home")
    before = answers(home)
    verified = casetape(home, "cases", "verify", "--json").json
    done = casetape(home, "run", env=KEEP)
    assert (done.code, done.err) == (0, "")
    store = casetape(home, "home", "--json").json["store"]
    assert (store["pruned"], store["remains"]["count"]) == (PRUNED, 10)
    for question, was, now in zip(QUESTIONS, before, answers(home), strict=True):
        assert now == was, question
    again = casetape(home, "cases", "verify", "--json").json
    assert again == {**verified, "pruned": PRUNED}
    assert f"{PRUNED} versions read from `states`" in casetape(home, "cases", "verify").out


def test_a_run_that_is_killed_while_it_keeps_house_is_made_good_by_the_next(long_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(long_home, tmp_path / "home")
    shown = ("cases", "show", CASE, "--all", "--json", "--at", "301")
    before = casetape(home, *shown).out
    killed = casetape(home, "run", env={**KEEP, "CASETAPE_FAIL_POINT": "store.pruning:1"})
    assert killed.code == -signal.SIGKILL
    assert casetape(home, *shown).out == before
    assert casetape(home, "run", env=KEEP).code == 0
    assert casetape(home, "home", "--json").json["store"]["pruned"] == PRUNED
    assert casetape(home, *shown).out == before


@pytest.mark.parametrize("days", ["-1", "0", "nan"])
def test_a_retention_that_would_empty_the_tape_is_refused(tmp_path: Path, days: str) -> None:
    """I1: a slip of the pen removes nothing."""
    home = tmp_path / "home"
    run(home, DAY1)
    before = _observations(home)["records"]
    assert before > 0
    refused = casetape(home, "run", env={"CASETAPE_RETENTION__OBSERVATIONS": days})
    assert refused.code == 2
    assert "setting `retention.observations` (variable CASETAPE_RETENTION__OBSERVATIONS)" in refused.err
    assert _observations(home)["records"] == before


def test_a_bound_for_one_topic_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    def days(value: str) -> dict[str, float | None]:
        told = casetape(tmp_path / "home", "home", "--json", env={"CASETAPE_RETENTION": value}).json["topics"]
        return {one["topic"]: one["keeps"]["days"] for one in told}

    run(tmp_path / "home", DAY1)
    assert days('{"quarantine": 30}') == {"observations": 7, "versions": None, "states": None, "quarantine": 30}
    assert days('{"observations": "forever"}')["observations"] is None


def test_what_stays_though_it_is_beyond_its_bounds_is_told(long_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(long_home, tmp_path / "home")
    assert casetape(home, "run", env=KEEP).code == 0
    done = casetape(home, "run", env={**KEEP, "CASETAPE_RETENTION__STATES": "1e-9"})
    assert done.code == 0
    assert f"`states` is not trimmed: it alone has {PRUNED} versions" in done.err
    assert casetape(home, "cases", "verify", "--json").json["faults"] == []


KEEPER = """
import sys
import time
from pathlib import Path
from casetape.keeping import keep
from casetape.settings import Settings
from engines.sqlite import open_engine
from schemas.errors import UnknownTopic
chosen = Settings(home=Path(sys.argv[1]), retention_mib={"observations": 0.01}, keep_versions=1, keep_ledger=1e-9)
with open_engine(chosen.home) as engine:
    calls = 0
    print("ready", flush=True)
    while not Path(sys.argv[2]).exists():
        try:
            keep(engine, chosen, time.time_ns() // 1000, seconds=0)
        except UnknownTopic:
            continue
        calls += 1
    print(calls, flush=True)
"""


def test_a_keeper_beside_a_run_changes_nothing_of_it(tmp_path: Path) -> None:
    """I7: whatever it removes and however often it looks, what was read is counted and what was found is the same."""
    undisturbed, home, done = tmp_path / "undisturbed", tmp_path / "home", tmp_path / "done"
    run(undisturbed, DAY1, DAY2)
    keeper = subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(home), str(done)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(home, {}),
    )
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    report = run(home, "--workers", "2", DAY1, DAY2)
    done.touch()
    assert int(keeper.stdout.readline()) > 10
    assert keeper.wait() == 0
    assert closes(report)
    assert picture(home) == picture(undisturbed)
    assert casetape(home, "cases", "verify", "--json").json["faults"] == []
    assert _observations(home)["bytes"] < _observations(undisturbed)["bytes"] / 2


ROUNDS = 10
LINE = (
    '{{"_path":"conn","ts":{ts},"uid":"C{uid}","id.orig_h":"10.0.0.{host}","id.orig_p":5,"id.resp_h":"{to}",'
    '"id.resp_p":443,"proto":"tcp","conn_state":"SF","history":"{uid}","noise":"{noise}"}}\n'
)


def _log(path: Path, round_: int, count: int) -> Path:
    """A day of connections, two days later each round: no compression makes it small, and nothing recurs in it."""
    start = 1_588_300_000 + 2 * 86_400 * round_
    chance = random.Random(round_)
    rows = (
        LINE.format(
            ts=start + n,
            uid=f"{round_}x{n}",
            host=n % 200,
            to=f"198.{n >> 16}.{n >> 8 & 255}.{n & 255}",
            noise=chance.randbytes(500).hex(),
        ).encode()
        for n in range(count)
    )
    return write(path, rows)


def _use(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = casetape(home, "home", "--json").json
    return found


def _observations(home: Path) -> dict[str, Any]:
    """The use of that topic."""
    found: dict[str, Any] = next(one for one in _use(home)["topics"] if one["topic"] == "observations")
    return found


def _disk(home: Path) -> int:
    return sum(file.stat().st_size for file in home.iterdir())


def test_after_a_burst_the_disk_follows_the_bounds(tmp_path: Path) -> None:
    """Row 8: the file shrinks again, and does not only use its free pages once more."""
    home = tmp_path / "home"
    bound = {"CASETAPE_RETENTION_MIB": '{"observations": 4}'}
    assert casetape(home, "run", _log(tmp_path / "small", 0, 2_000), env=bound).code == 0
    usual = _disk(home)
    assert casetape(home, "run", _log(tmp_path / "large", 1, 80_000)).code == 0
    burst = _disk(home)
    assert burst > 40 * MIB
    assert casetape(home, "run", env=bound).code == 0
    use = _use(home)
    assert 3 * MIB < _observations(home)["bytes"] <= 4 * MIB
    windows = sum(one["bytes"] for one in use["store"]["windows"].values())
    assert use["bytes"]["free"] < 9 * MIB
    assert _disk(home) < usual + windows + 14 * MIB < burst


def _rows(home: Path) -> dict[str, int]:
    with closing(sqlite3.connect(home / FILE)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: file.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}  # noqa: S608 - the file's own names


def test_nothing_grows_without_a_bound(tmp_path: Path) -> None:
    """Row 20: rounds of the same work leave the same number of rows in every table but those that are kept for ever."""
    home = tmp_path / "home"
    env = {"CASETAPE_RETENTION": '{"observations": 1e-9}', "CASETAPE_KEEP_LEDGER": "0.000001"}
    counted = []
    for round_ in range(ROUNDS):
        assert casetape(home, "run", _log(tmp_path / "conn.log", round_, 1_000), env=env).code == 0
        counted.append(_rows(home))
    half = counted[ROUNDS // 2 - 1]
    assert {table: count for table, count in counted[-1].items() if count > half[table]} == {}
    assert _observations(home)["records"] == 0
