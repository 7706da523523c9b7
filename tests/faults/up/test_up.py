"""`casetape up`: services that stay up, say what happened to them, and leave when they are told to."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.acceptance.command import DAY1, casetape, closes, picture, run
from tests.faults.up.house import House, gone, until

SHORT = {"CASETAPE_SESSION": "2"}


def consumed(house: House) -> int:
    """Records that the workers have handled, for all that their snapshots say."""
    number: int = house.status()["counts"]["consumed"]
    return number


def test_what_is_fed_while_it_is_up_is_worked_off(tmp_path: Path) -> None:
    with House(tmp_path / "home", "--workers", "2").ready() as house:
        fed = casetape(house.home, "feed", DAY1, "--json").json
        text = casetape(
            house.home, "feed", "-", "--subject", "host:10.0.0.5", "--kind", "text", stdin=b"look at this\n"
        )
        assert text.code == 0
        rows = until(lambda: casetape(house.home, "cases", "list", "--json").json)
        assert "default/host:10.0.0.5" in {row["key"] for row in rows}
        report = house.stop()
    assert report["consumed"] == fed["appended"] + 1 == report["new"] + report["duplicates"] + report["quarantined"]
    assert (report["restarts"], report["faults"], report["quarantined"]) == (0, 0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_leaves_nobody_behind(tmp_path: Path, number: signal.Signals) -> None:
    with House(tmp_path / "home").ready() as house:
        pids = house.services().values()
        assert len(pids) == 2
        house.stop(number)
        assert all(gone(pid) for pid in pids)
    status = casetape(tmp_path / "home", "status", "--json")
    assert status.code == 1
    assert house.status()["health"] == "down"


def test_children_leave_when_up_itself_is_killed_and_the_next_goes_on(tmp_path: Path) -> None:
    with House(tmp_path / "home", env=SHORT).ready() as house:
        casetape(house.home, "feed", DAY1)
        house.killed()
        assert house.status()["health"] == "down"
        house.again()
        house.ready()
        until(lambda: consumed(house) == 2_140)
        house.stop()


def test_a_service_that_dies_is_started_again_and_said_so(tmp_path: Path) -> None:
    with House(tmp_path / "home", env=SHORT).ready() as house:
        for name, pid in house.services().items():
            os.kill(pid, signal.SIGKILL)
            until(lambda pid=pid: gone(pid))
            until(
                lambda name=name, pid=pid: (
                    len(house.services()) == 2 and f"{name.split()[0]} {pid}" not in house.services()
                )
            )
        until(lambda: len(house.events("told")) == 2)
        told = sorted(one["text"] for one in house.events("told"))
        assert told == [
            "merger stopped (exit code -9); it was started again",
            "worker 1 stopped (exit code -9); it was started again",
        ]
        until(lambda: sum(one["restarts"] for one in house.status()["services"]) == 2)
        casetape(house.home, "feed", DAY1)
        assert house.stop()["restarts"] == 2
    assert closes(run(house.home))
    # live windows that nothing closed are concluded by the run: the same cases as if there had been no `up`
    plain = tmp_path / "plain"
    run(plain, DAY1)
    assert picture(house.home) == picture(plain)


def test_what_a_killed_worker_held_does_not_wait_for_its_lease(tmp_path: Path) -> None:
    with House(tmp_path / "home", env={"CASETAPE_SESSION": "3600"}).ready() as house:
        casetape(house.home, "feed", DAY1)
        (worker,) = (pid for name, pid in house.services().items() if name.startswith("worker"))
        os.kill(worker, signal.SIGKILL)
        until(lambda: consumed(house) == 2_140)
        house.stop()


def test_only_one_serves_a_home_and_no_run_gets_between(tmp_path: Path) -> None:
    with House(tmp_path / "home").ready() as house:
        for verb in ("up", "run"):
            refused = casetape(house.home, verb)
            assert refused.code == 1
            assert "`casetape up` is at work on" in refused.err
        assert house.process.poll() is None
        house.stop()


@pytest.mark.parametrize("lost", ["casetape.lock", "casetape.db"])
def test_a_home_that_is_taken_away_ends_it(tmp_path: Path, lost: str) -> None:
    """What it went on to do nobody would see; and another `up` could begin beside it."""
    with House(tmp_path / "home").ready() as house:
        (house.home / lost).rename(tmp_path / "elsewhere")
        until(lambda: house.process.poll() is not None)
        assert house.process.returncode == 1
        assert house.process.stderr is not None
        assert b"was removed or replaced" in house.process.stderr.read()


def test_what_cannot_start_says_so_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for args, words in (
        (("--policy", "nobody"), "there is no policy `nobody`"),
        (("--detectors", "nobody"), "nobody"),
        (("--kind", "nonsense"), "nonsense"),
    ):
        refused = casetape(home, "up", *args)
        assert (refused.code, words in refused.err) == (2, True), refused.err


def test_it_says_what_it_is_not_for(tmp_path: Path) -> None:
    with House(tmp_path / "home").ready() as house:
        (warning,) = house.events("warning")
        for words in ("one machine", "not for several machines", "`casetape run`"):
            assert words in warning["text"]
        house.stop()


def test_lag_tells_what_is_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    casetape(home, "feed", DAY1)
    before = casetape(home, "lag", "--json").json
    workers = [one for one in before if one["topic"] == "observations"]
    assert sum(one["lag"] for one in workers) == sum(one["waiting"] for one in workers) == 2_140
    assert all((one["oldest"] is None) == (one["waiting"] == 0) for one in before)
    run(home)
    assert {one["lag"] for one in casetape(home, "lag", "--json").json} == {0}
