"""Asynchronous workers that are killed, stopped and scaled: nothing is lost, nothing comes twice, and a paid question
is asked again within the stated bound only (I4, I7)."""

from __future__ import annotations

import os
import signal

import pytest

from engines.failpoints import VARIABLE
from tests.faults.asynchronous.rig import MODULE, Rig, records
from workers.asynchronous.options import AsyncOptions
from workers.runtime.supervisor import Supervisor

pytestmark = pytest.mark.needs_services

COUNT = 300
AHEAD = AsyncOptions("default").bound(8)
"""Of so many records a worker may have asked without having saved the answers."""


def complete(rig: Rig) -> bool:
    return rig.saved() >= COUNT


def check(rig: Rig, repeats: int) -> None:
    """Everything there, each analysis once, and at most so many questions asked again."""
    assert rig.fingerprints() == {f"number {n}": 1 for n in range(COUNT)}
    counts = rig.counts()
    assert (counts.consumed, counts.new, counts.duplicate, counts.quarantined) == (COUNT, COUNT, 0, 0)
    calls = rig.calls()
    assert len(calls) == COUNT
    assert calls.total() - COUNT <= repeats


@pytest.mark.parametrize(("point", "passes"), [("async.looked", 4), ("async.published", 3), ("async.saved", 6)])
def test_a_kill_at_a_fail_point_loses_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, point: str, passes: int
) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}:{passes}")
    rig.feed(records(0, COUNT))
    rig.start()
    rig.until(lambda: complete(rig))
    rig.supervisor.stop()
    assert any("exit code -9" in told for told in rig.told)
    check(rig, AHEAD)


def test_kills_in_mid_batch_lose_nothing(rig: Rig) -> None:
    rig.feed(records(0, COUNT))
    rig.start()
    for saved in (60, 150):
        rig.until(lambda saved=saved: rig.saved() >= saved)  # type: ignore[misc]  # mypy cannot type a bound default
        os.kill(rig.supervisor.pids()["worker 1"], signal.SIGKILL)
    rig.until(lambda: complete(rig))
    rig.supervisor.stop()
    assert len(rig.told) == 2
    check(rig, 2 * AHEAD)


def test_a_stop_in_mid_batch_finishes_what_is_under_way(rig: Rig) -> None:
    rig.feed(records(0, COUNT))
    rig.start()
    rig.until(lambda: rig.saved() >= 60)
    os.kill(rig.supervisor.pids()["worker 1"], signal.SIGTERM)
    rig.until(lambda: bool(rig.told))
    assert "exit code 0" in rig.told[0]
    rig.until(lambda: complete(rig))
    rig.supervisor.stop()
    check(rig, 0)
    assert set(rig.said().values()) == {1}


@pytest.mark.campaign
def test_one_worker_then_two_then_one(rig: Rig) -> None:
    rig.feed(records(0, COUNT))
    rig.start(seconds=0.4)
    rig.until(lambda: rig.saved() >= 20)
    second = Supervisor(rig.told.append)
    second.start("worker 2", MODULE, rig.options(seconds=0.4))
    try:
        both = rig.supervisor, second
        rig.until(lambda: [len(one.owned or ()) for each in both for one in each.services()] == [2, 2])
        shares = [one.owned or frozenset() for each in both for one in each.services()]
        before = [rig.saved_of(share) for share in shares]
        rig.until(lambda: all(rig.saved_of(share) > then for share, then in zip(shares, before, strict=True)))
    finally:
        second.stop()
    assert not complete(rig)
    rig.until(lambda: complete(rig))
    rig.supervisor.stop()
    assert rig.told == []
    check(rig, 0)
    assert set(rig.said().values()) == {1}
