"""Retention never takes what somebody has still to read, and keeps within its bounds otherwise."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.engine import Engine
from engines.failpoints import VARIABLE
from engines.log import NewRecord, TopicPartition, lag
from engines.partitioner import partition_of
from engines.retention import Bounds, Trimmed, level, trim
from engines.sqlite import open_engine
from engines.topics import OBSERVATIONS

AT = TopicPartition(OBSERVATIONS, 0)
SECOND = 1_000_000
ROOT = Path(__file__).parents[3]


def handled(engine: Engine, offset: int, group: str = "reader") -> None:
    """A group that has committed so far."""
    consumer = engine.log.consumer(group, [OBSERVATIONS])
    consumer.poll(1, 1.0)
    consumer.commit({AT: offset})
    consumer.close()


@pytest.mark.parametrize(
    ("before", "done", "left", "held"),
    [
        (0, 50, 50, 0),
        (10, 50, 40, 0),
        (25, 50, 25, 0),
        (25, 7, 43, 18),
        (25, None, 50, 25),
        (1_000, 50, 0, 0),
        (1_000, 49, 1, 1),
    ],
)
def test_by_time_and_by_what_is_handled(tmp_path: Path, before: int, done: int | None, left: int, held: int) -> None:
    """Fifty records, one a second; `before` in seconds."""
    seconds = 0.0
    with open_engine(tmp_path, clock=lambda: seconds) as engine:
        engine.log.create_topic(OBSERVATIONS, 1)
        for number in range(50):
            seconds = float(number)
            engine.log.append(OBSERVATIONS, [NewRecord("default/a", b"%d" % number)])
        if done is not None:
            handled(engine, done)
        trimmed = trim(engine.log, OBSERVATIONS, Bounds(since=before * SECOND), ["reader"])
        kept = engine.log.read(AT, 0, 100)
        assert [one.value for one in kept] == [b"%d" % number for number in range(50 - left, 50)]
        assert sum(trimmed.gone.values()) == 50 - left
        assert sum(trimmed.held.values()) == held
        assert lag(engine.log, "reader", OBSERVATIONS) == {0: 50 - max(50 - left, done or 0)}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path) as opened:
        yield opened


def noise(engine: Engine, count: int, partitions: int = 1, key: str = "default/a") -> None:
    """Records of a thousand bytes that no compression makes smaller, each in a batch of its own."""
    engine.log.create_topic(OBSERVATIONS, partitions)
    chance = random.Random(7)
    for _ in range(count):
        engine.log.append(OBSERVATIONS, [NewRecord(key, chance.randbytes(1_000))])


@pytest.mark.parametrize(("done", "left", "held"), [(50, 20, 0), (10, 40, 20), (None, 50, 30)])
def test_by_size_and_by_what_is_handled(engine: Engine, done: int | None, left: int, held: int) -> None:
    noise(engine, 50)
    if done is not None:
        handled(engine, done)
    size = engine.log.stored_bytes(OBSERVATIONS)[0] * 20 // 50
    trimmed = trim(engine.log, OBSERVATIONS, Bounds(size=size), ["reader"])
    assert trimmed == Trimmed({0: 50 - left} if left < 50 else {}, {0: held} if held else {}, more=False)
    assert engine.log.start_offsets(OBSERVATIONS) == {0: 50 - left}
    assert engine.log.stored_bytes(OBSERVATIONS)[0] <= size or held
    assert lag(engine.log, "reader", OBSERVATIONS) == {0: 50 - max(50 - left, done or 0)}


def test_whichever_bound_is_the_tighter_counts(tmp_path: Path) -> None:
    for since, size, left in ((10, 20_000, 19), (40, 20_000, 10), (0, None, 50), (45, None, 5)):
        seconds = 0.0
        with open_engine(tmp_path / f"{since}-{size}", clock=lambda: seconds) as engine:  # noqa: B023 - used in this turn only
            engine.log.create_topic(OBSERVATIONS, 1)
            for number in range(50):
                seconds = float(number)
                engine.log.append(OBSERVATIONS, [NewRecord("default/a", random.Random(number).randbytes(1_000))])
            trim(engine.log, OBSERVATIONS, Bounds(since * SECOND, size), [])
            assert len(engine.log.read(AT, 0, 100)) == left


def test_the_largest_partitions_give(engine: Engine) -> None:
    by_partition = {partition_of(key, 4): key for key in (f"default/{n}" for n in range(50))}
    for partition, count in enumerate((2, 10, 30, 60)):
        noise(engine, count, 4, by_partition[partition])
    one = engine.log.stored_bytes(OBSERVATIONS)[0] // 2
    trim(engine.log, OBSERVATIONS, Bounds(size=one * 52), [])
    starts, ends = engine.log.start_offsets(OBSERVATIONS), engine.log.end_offsets(OBSERVATIONS)
    assert [ends[partition] - starts[partition] for partition in range(4)] == [2, 10, 20, 20]


def test_a_step_takes_about_as_much_as_it_may(engine: Engine) -> None:
    noise(engine, 100)
    steps = []
    while (trimmed := trim(engine.log, OBSERVATIONS, Bounds(size=0), [], step=10_000)).gone:
        steps.append(trimmed.gone[0])
        assert trimmed.more == (engine.log.start_offsets(OBSERVATIONS)[0] < 100)
    assert sum(steps) == 100
    assert max(steps) <= 11
    assert engine.log.stored_bytes(OBSERVATIONS) == {0: 0}


def test_what_a_kill_left_behind_goes_with_the_next_trim(tmp_path: Path) -> None:
    """What lies below the oldest offset is seen by nobody, and must not stay for ever."""
    with open_engine(tmp_path) as engine:
        noise(engine, 600)
    program = (
        "import sys; from pathlib import Path; from engines.sqlite import open_engine;"
        "from engines.retention import Bounds, trim;"
        "engine = open_engine(Path(sys.argv[1])); trim(engine.log, 'observations', Bounds(size=0), [])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, env={**os.environ, VARIABLE: "log.trimming:1"}
    )
    assert done.returncode == -signal.SIGKILL
    with open_engine(tmp_path) as engine:
        assert engine.log.start_offsets(OBSERVATIONS) == {0: 600}
        assert engine.log.read(AT, 0, 1_000) == []
        assert engine.log.stored_bytes(OBSERVATIONS)[0] > 300_000
        trim(engine.log, OBSERVATIONS, Bounds(size=10**9), [])
        assert engine.log.stored_bytes(OBSERVATIONS) == {0: 0}


@given(st.lists(st.integers(0, 1_000), max_size=8), st.integers(0, 5_000))
def test_the_level_is_the_greatest_that_fits(sizes: list[int], total: int) -> None:
    found = level(sizes, total)

    def filled(height: int) -> int:
        return sum(min(size, height) for size in sizes)

    assert filled(found) <= total
    assert filled(found) == sum(sizes) or filled(found + 1) > total
