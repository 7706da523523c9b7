"""`keep`: everything that a home no longer has to keep goes, a little in each call, beside whoever is at work.

Field reports, second table, rows 8, 13 and 20."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from casetape import keeping
from casetape.keeping import CURSOR, Kept, keep
from casetape.services.starting import GROUP
from casetape.settings import Settings
from engines.engine import Engine
from engines.log import NewRecord, TopicPartition, lag
from engines.sqlite import FILE, open_engine
from engines.topics import ALL, OBSERVATIONS, QUARANTINE, STATES
from merge.history import history
from merge.verify import verify
from schemas.scales import DAY
from tests import factories
from tests.faults.merge.long import CASE, LENGTH, copied, grown
from workers.feed.ledger import Mark
from workers.feed.quarantine import REQUEUED

NOW = 1_800_000_000_000_000
AT = TopicPartition(OBSERVATIONS, 0)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, clock=lambda: NOW / 1e6) as opened:
        for topic in ALL:
            opened.log.create_topic(topic, 1)
        yield opened


def settings(**chosen: Any) -> Settings:
    """These, and no bound that is not chosen."""
    return Settings(**{**chosen, "retention": {"observations": None, **chosen.get("retention", {})}})


def rounds(engine: Engine, chosen: Settings, now: int = NOW, *, seconds: float = 9.0) -> list[Kept]:
    """Calls until there is nothing more to do."""
    done = [keep(engine, chosen, now, seconds=seconds)]
    while done[-1].more:
        done.append(keep(engine, chosen, now, seconds=seconds))
    return done


def noise(engine: Engine, count: int, topic: str = OBSERVATIONS) -> None:
    chance = random.Random(count)
    for _ in range(count):
        engine.log.append(topic, [NewRecord("default/a", chance.randbytes(100_000))])


def read_up_to(engine: Engine, offset: int) -> None:
    """What the workers have handled."""
    consumer = engine.log.consumer(GROUP, [OBSERVATIONS])
    consumer.poll(1, 1.0)
    consumer.commit({AT: offset})
    consumer.close()


def test_nothing_is_done_that_was_not_asked_for(engine: Engine) -> None:
    noise(engine, 10)
    read_up_to(engine, 10)
    assert keep(engine, settings(), NOW + 1_000 * DAY) == Kept()
    assert engine.log.start_offsets(OBSERVATIONS) == {0: 0}


def test_a_topic_is_bounded_by_age_and_size(engine: Engine) -> None:
    noise(engine, 50)
    read_up_to(engine, 50)
    assert keep(engine, settings(retention_mib={"observations": 2.0}), NOW).trimmed == {OBSERVATIONS: 30}
    assert engine.log.stored_bytes(OBSERVATIONS)[0] <= 2 * 1024 * 1024
    assert keep(engine, settings(retention={"observations": 1.0}), NOW + DAY).trimmed == {}
    assert keep(engine, settings(retention={"observations": 1.0}), NOW + DAY + 1).trimmed == {OBSERVATIONS: 20}


def test_what_a_reader_needs_stays_and_is_told(engine: Engine) -> None:
    """I7: a slow reader costs room, never evidence."""
    noise(engine, 50)
    read_up_to(engine, 10)
    kept = keep(engine, settings(retention={"observations": 1e-12}), NOW + 1)
    assert kept.trimmed == {OBSERVATIONS: 10}
    assert kept.held == (f"`observations` has records that are due to go, and {GROUP} needs them still",)
    assert lag(engine.log, GROUP, OBSERVATIONS) == {0: 40}


def test_a_call_does_a_bounded_part(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "STEP_BYTES", 1_000_000)
    noise(engine, 100)
    read_up_to(engine, 100)
    done = rounds(engine, settings(retention_mib={"observations": 1.0}), seconds=0)
    assert sum(one.trimmed.get(OBSERVATIONS, 0) for one in done) == 90
    assert max(one.trimmed.get(OBSERVATIONS, 0) for one in done) <= 11
    assert [one.more for one in done] == [True] * (len(done) - 1) + [False]


def test_old_entries_of_the_ledger_go_page_by_page(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 20: no kind of note grows for ever; all tenants have their turn."""
    monkeypatch.setattr(keeping, "NOTES", 10)
    for number in range(45):
        mark = Mark(at=NOW - (number % 3) * 300 * DAY)
        assert engine.store.move_note(f"ledger/t{number % 2}/x/y/{number:02}", None, mark.encode())
    gone = [keep(engine, settings(keep_ledger=400.0), NOW).notes for _ in range(5)]
    assert sum(gone) == 15
    assert max(gone) <= 10
    assert engine.store.note(CURSOR) is None, "it begins again"
    assert len(engine.store.notes("ledger/")) == 30
    assert [keep(engine, settings(keep_ledger=400.0), NOW).notes for _ in range(4)] == [0] * 4


def test_a_requeue_is_remembered_as_long_as_its_record_lies_in_quarantine(engine: Engine) -> None:
    for number, at in enumerate((NOW - 5, NOW + 5)):
        note = json.dumps({"at": at, "observation": "inp_x"}).encode()
        engine.store.move_note(f"{REQUEUED}default/{number}", None, note)
    noise(engine, 3, QUARANTINE)
    assert keep(engine, settings(), NOW + 9 * DAY).notes == 1, "the oldest record there was appended at NOW"
    assert list(engine.store.notes(REQUEUED)) == [f"{REQUEUED}default/1"]
    kept = keep(engine, settings(retention={"quarantine": 1.0}), NOW + 9 * DAY)
    assert (kept.trimmed, kept.notes) == ({QUARANTINE: 3}, 1)
    assert engine.store.notes("") == {}


@pytest.fixture(scope="module")
def long_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long")
    grown(path, LENGTH)
    return path


def test_old_versions_go(long_home: Path, tmp_path: Path) -> None:
    with open_engine(copied(long_home, tmp_path)) as engine:
        assert sum(one.versions for one in rounds(engine, settings(keep_versions=100), seconds=0)) == 576
        assert keep(engine, settings(keep_versions=100), NOW) == Kept()
        assert engine.store.pruned([CASE]) == {CASE: 576}


@pytest.mark.parametrize(
    "chosen", [{"keep_versions": 0}, {"retention": {"states": 9.0}}, {"retention_mib": {"states": 900.0}}]
)
def test_the_store_keeps_all_versions_where_states_does_not(
    long_home: Path, tmp_path: Path, chosen: dict[str, Any]
) -> None:
    """I2: a version goes from one only while the other keeps it."""
    with open_engine(copied(long_home, tmp_path)) as engine:
        kept = keep(engine, settings(**{"keep_versions": 100, **chosen}), NOW)
        assert kept.versions == 0
        assert len(engine.store.versions(CASE, 1, LENGTH)) == LENGTH


def test_states_is_trimmed_only_while_the_store_has_it_all(long_home: Path, tmp_path: Path) -> None:
    """I2: whoever sets a bound to `states` later is told why it is not kept to, and loses nothing."""
    old = {"retention": {"states": 1.0}, "keep_versions": 100}
    with open_engine(copied(long_home, tmp_path / "whole")) as engine:
        kept = rounds(engine, settings(**old), NOW * 2)[0]
        assert kept.trimmed[STATES] > LENGTH
        assert kept.held == ()
        assert len(list(history(engine.store, CASE, log=engine.log))) == LENGTH
        assert verify(engine.store, engine.log).faults == ()
    with open_engine(copied(long_home, tmp_path / "pruned")) as engine:
        rounds(engine, settings(keep_versions=100))
        (kept,) = rounds(engine, settings(**old), NOW * 2)
        assert kept.trimmed == {}
        assert kept.held == (
            "`states` is not trimmed: it alone has 576 versions that the store let go of before it was given a bound",
        )
        assert len(list(history(engine.store, CASE, log=engine.log))) == LENGTH


def test_versions_that_may_not_go_are_told(long_home: Path, tmp_path: Path) -> None:
    with open_engine(copied(long_home, tmp_path)) as engine:
        for partition in range(2):
            engine.log.trim(TopicPartition(STATES, partition), 3)
        (kept,) = rounds(engine, settings(keep_versions=100))
        assert kept.versions == 0
        assert kept.held == (
            f"old versions of `{CASE}` stay in the store: version 1 is not in `states`; run `casetape cases verify`",
        )


CHILD = """
import sys
from pathlib import Path
from casetape.keeping import keep
from casetape.settings import Settings
from engines.sqlite import open_engine
chosen = Settings(home=Path(sys.argv[1]), retention={"observations": 1e-12}, keep_versions=100)
with open_engine(chosen.home) as engine:
    print("ready", flush=True)
    sys.stdin.readline()
    while keep(engine, chosen, 2**60, seconds=0).more:
        continue
"""


def child(home: Path, fail_at: str = "") -> subprocess.Popen[str]:
    """A keeper in a process of its own, which begins once it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(home)],
        cwd=Path(__file__).parents[3],
        env={"CASETAPE_FAIL_POINT": fail_at},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def observed(home: Path, count: int) -> None:
    """Observations that all were handled, in two partitions."""
    with open_engine(home) as engine:
        for n in range(count):
            one = factories.observation(
                n, subject=f"host:{n % 7}", data={"n": n, "noise": random.Random(n).randbytes(900).hex()}
            )
            engine.log.append(OBSERVATIONS, [NewRecord(one.case, one.encode())])
        consumer = engine.log.consumer(GROUP, [OBSERVATIONS])
        while batches := consumer.poll(10_000, 0.2):
            consumer.commit({batch.at: batch.next_offset for batch in batches})
        consumer.close()


POINTS = ["keeper.trimmed", "log.trimming", "keeper.compared", "store.pruning", "keeper.pruned"]


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_fail_point_is_made_good_by_the_next_call(long_home: Path, tmp_path: Path, point: str) -> None:
    home = copied(long_home, tmp_path)
    observed(home, 800)
    dying = child(home, f"{point}:1")
    dying.communicate("go\n")
    assert dying.returncode == -signal.SIGKILL
    with open_engine(home) as engine:
        assert verify(engine.store, engine.log).faults == ()
    done = child(home)
    done.communicate("go\n")
    assert done.returncode == 0
    with open_engine(home) as engine:
        assert sum(engine.log.stored_bytes(OBSERVATIONS).values()) == 0
        assert engine.store.pruned([CASE]) == {CASE: 576}
        assert len(list(history(engine.store, CASE, log=engine.log))) == LENGTH
        assert verify(engine.store, engine.log).faults == ()
    with closing(sqlite3.connect(home / FILE)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_several_keepers_at_once(long_home: Path, tmp_path: Path) -> None:
    home = copied(long_home, tmp_path)
    observed(home, 300)
    keepers = [child(home) for _ in range(3)]
    for one in keepers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in keepers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [one.wait() for one in keepers] == [0, 0, 0]
    with open_engine(home) as engine:
        assert sum(engine.log.stored_bytes(OBSERVATIONS).values()) == 0
        assert engine.store.pruned([CASE]) == {CASE: 576}
        assert verify(engine.store, engine.log).faults == ()
