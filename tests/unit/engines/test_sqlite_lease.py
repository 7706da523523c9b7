"""Leases by a clock that the test sets: what jumps of the clock, and silence without witnesses, do to members."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import Consumer
from engines.sqlite import open_engine
from schemas.errors import Fenced

SESSION = 30.0
HOUR = 3_600.0


class Clock:
    """Seconds since 1970, as set."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    with open_engine(tmp_path, session_seconds=SESSION, clock=clock) as opened:
        opened.log.create_topic("t", 4)
        yield opened


def owned(consumer: Consumer) -> int:
    """How many partitions it owns after one look."""
    consumer.poll(1, 0)
    return len(consumer.assignment())


def settled(engine: Engine, rounds: int = 3) -> list[Consumer]:
    """Two members that have shared out everything; after several rounds each has seen that the other has."""
    members = [engine.log.consumer("g", ["t"]) for _ in range(2)]
    for _ in range(rounds):
        assert [owned(one) for one in members] == [2, 2]
    return members


def test_a_member_that_nobody_missed_goes_on(engine: Engine, clock: Clock) -> None:
    alone = engine.log.consumer("g", ["t"])
    generations = dict(alone.assignment()) if owned(alone) == 4 else {}
    clock.now += HOUR
    assert owned(alone) == 4
    assert alone.assignment() == generations
    alone.heartbeat()


def test_a_silent_member_is_replaced_only_once_its_session_is_over(engine: Engine, clock: Clock) -> None:
    silent, heir = engine.log.consumer("g", ["t"]), engine.log.consumer("g", ["t"])
    assert owned(silent) == 2
    assert owned(heir) == 2
    clock.now += SESSION - 1
    assert owned(heir) == 2
    clock.now += 2
    assert owned(heir) == 4
    with pytest.raises(Fenced):
        silent.heartbeat()
    with pytest.raises(Fenced):
        silent.poll(1, 0)
    assert owned(heir) == 4


def test_polls_and_heartbeats_renew(engine: Engine, clock: Clock) -> None:
    polling, beating, waiting = (engine.log.consumer("g", ["t"]) for _ in range(3))
    for _ in range(3):
        for one in (polling, beating, waiting):
            one.poll(1, 0)
    shares = [len(one.assignment()) for one in (polling, beating, waiting)]
    assert sorted(shares) == [1, 1, 2]
    for _ in range(20):
        clock.now += SESSION / 2
        beating.heartbeat()
        polling.poll(1, 0)
        waiting.poll(1, 0)
    assert [len(one.assignment()) for one in (polling, beating, waiting)] == shares


def test_a_clock_set_back_does_not_keep_the_dead_alive(engine: Engine, clock: Clock) -> None:
    clock.now += HOUR
    dead = engine.log.consumer("g", ["t"])
    assert owned(dead) == 4
    clock.now -= HOUR
    heir = engine.log.consumer("g", ["t"])
    assert owned(heir) == 0
    clock.now += SESSION + 1
    assert owned(heir) == 4


@pytest.mark.parametrize("back", [SESSION / 2, HOUR])
@pytest.mark.parametrize("beats_first", [True, False])
def test_a_clock_set_back_under_living_members_does_not_keep_a_dead_one_alive(
    engine: Engine, clock: Clock, back: float, beats_first: bool
) -> None:
    living, dead = settled(engine)
    clock.now -= back
    for passed in (5, 10, 15, 20, 25, 30):
        clock.now += 5
        if beats_first:
            living.heartbeat()
        assert owned(living) == 2, f"{passed} s after the member died"
        living.heartbeat()
    clock.now += 10
    assert owned(living) == 4
    with pytest.raises(Fenced):
        dead.heartbeat()


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_clock_set_back_takes_nothing_from_members_that_go_on(engine: Engine, clock: Clock, rounds: int) -> None:
    members = settled(engine, rounds)
    clock.now -= HOUR
    for _ in range(20):
        clock.now += SESSION / 2
        assert [owned(one) for one in members] == [2, 2]
        members[1].heartbeat()


def test_idle_polls_write_nothing(engine: Engine, clock: Clock, tmp_path: Path) -> None:
    alone = engine.log.consumer("g", ["t"])
    assert owned(alone) == 4
    before = (tmp_path / "casetape.db-wal").read_bytes()
    for _ in range(50):
        clock.now += 0.1
        alone.poll(1, 0)
        alone.heartbeat()
    assert (tmp_path / "casetape.db-wal").read_bytes() == before


def test_a_closed_member_is_out(engine: Engine) -> None:
    one = engine.log.consumer("g", ["t"])
    assert owned(one) == 4
    one.close()
    one.close()
    with pytest.raises(Fenced):
        one.poll(1, 0)
    with pytest.raises(Fenced):
        one.heartbeat()
