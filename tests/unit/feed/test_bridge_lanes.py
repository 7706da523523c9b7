"""The partitions of a foreign topic are passed on about abreast in event time, each in its own order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from engines.log import TopicPartition
from schemas.scales import MINUTE
from workers.feed.bridge_lanes import HELD_BYTES, WAIT_SECONDS, Lanes
from workers.feed.bridge_reading import Held
from workers.feed.turns import ABREAST


def held(offset: int, minutes: float | None) -> Held:
    return Held(offset, None if minutes is None else int(minutes * MINUTE), 100, False, None, None)


def lanes(count: int, end: int | None = None) -> Lanes:
    made = Lanes()
    made.add([TopicPartition("t", at) for at in range(count)])
    if end is not None:
        made.ends(dict.fromkeys(range(count), end), dict.fromkeys(range(count), 0))
    return made


def passed(made: Lanes, now: float = 0.0) -> list[tuple[int, int]]:
    return [(at.partition, one.offset) for at, one in made.due(now)]


def put(made: Lanes, partition: int, start: int, minutes: Sequence[float | None]) -> None:
    some = [held(start + number, one) for number, one in enumerate(minutes)]
    made.take(TopicPartition("t", partition), some, start + len(some))


def test_one_partition_waits_for_nobody() -> None:
    made = lanes(1)
    put(made, 0, 0, [5, 900, None])
    assert passed(made) == [(0, 0), (0, 1), (0, 2)]
    assert made.done([TopicPartition("t", 0)]) == {TopicPartition("t", 0): 3}


def test_i10_a_partition_that_is_ahead_waits_for_one_that_is_behind() -> None:
    made = lanes(2, end=4)
    put(made, 0, 0, [0, 1, 600, 601])
    assert passed(made) == []
    put(made, 1, 0, [2, 3])
    assert passed(made) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert made.done([TopicPartition("t", 0)]) == {TopicPartition("t", 0): 2}
    put(made, 1, 2, [599, 700])
    assert passed(made) == [(1, 2), (0, 2), (0, 3), (1, 3)]


def test_nobody_waits_for_what_has_ended_has_no_times_or_delivers_nothing() -> None:
    made = lanes(2, end=2)
    put(made, 1, 0, [0, 1])
    made.ends({0: 0, 1: 2}, {})
    assert passed(made) == [(1, 0), (1, 1)]
    made = lanes(2, end=9)
    put(made, 0, 0, [None])
    put(made, 1, 0, [5])
    assert passed(made) == [(0, 0), (1, 0)]
    made = lanes(2, end=9)
    put(made, 1, 0, [5])
    assert passed(made, 100.0) == []
    assert passed(made, 100.0 + WAIT_SECONDS / 2) == []
    assert passed(made, 100.0 + WAIT_SECONDS) == [(1, 0)]
    put(made, 1, 1, [6])
    assert passed(made, 200.0) == [(1, 1)]
    put(made, 0, 0, [7])
    assert passed(made, 201.0) == [(0, 0)]
    put(made, 1, 2, [500])
    assert passed(made, 202.0) == []


def test_what_is_held_is_bounded() -> None:
    made, first = lanes(2, end=10**6), {TopicPartition("t", 0)}
    count = HELD_BYTES // 100 + 1
    put(made, 0, 0, [500] * count)
    assert made.full() == (first, set())
    assert made.full() == (set(), set())
    put(made, 1, 0, [499])
    assert len(passed(made)) == count + 1
    assert made.full() == (set(), first)


def test_what_another_owns_is_forgotten() -> None:
    made = lanes(2, end=9)
    put(made, 0, 0, [5])
    made.drop([TopicPartition("t", 0)])
    put(made, 1, 0, [6])
    assert passed(made) == [(1, 0)]
    made.clear()
    assert len(made) == 0


@given(
    st.lists(st.lists(st.integers(0, 200) | st.none(), max_size=30), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_everything_comes_once_in_the_order_of_its_partition_and_abreast(
    times: list[list[int | None]], chance: random.Random
) -> None:
    made = lanes(len(times))
    made.ends({at: len(one) for at, one in enumerate(times)}, dict.fromkeys(range(len(times)), 0))
    read_to = [0] * len(times)
    out: list[tuple[int, int]] = []
    while unread := [at for at, one in enumerate(times) if read_to[at] < len(one)]:
        at = chance.choice(unread)
        some = times[at][read_to[at] : read_to[at] + chance.randint(1, 5)]
        put(made, at, read_to[at], some)
        read_to[at] += len(some)
        new = passed(made)
        out += new
        newest = max((time for one, offset in new if (time := times[one][offset]) is not None), default=-math.inf)
        assert newest * MINUTE <= min(bounds(times, read_to, out), default=math.inf)
    for at, one in enumerate(times):
        assert [offset for partition, offset in out if partition == at] == list(range(len(one)))


def bounds(times: list[list[int | None]], read_to: list[int], out: list[tuple[int, int]]) -> Iterator[float]:
    """Of each partition that is behind and waited for: how far the others may go."""
    for at, one in enumerate(times):
        mine = [offset for partition, offset in out if partition == at]
        clocks = [time for offset in mine if (time := one[offset]) is not None]
        if len(mine) == read_to[at] < len(one) and (clocks or not mine):
            yield max(clocks) * MINUTE + ABREAST if clocks else -math.inf
