"""EventLog without groups: appending, reading back, retention."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import pytest

from engines.engine import Engine
from engines.log import LogRecord, NewRecord, TopicPartition, lag
from engines.partitioner import partition_of
from engines.topics import RECORD_LIMIT
from schemas.errors import EngineError, RecordTooLarge, UnknownTopic
from tests.conformance.adapter import Adapter
from tests.conformance.members import GROUP, TOPIC, Driven, numbered, until

PARTITIONS = 4
AT = TopicPartition(TOPIC, 0)


@pytest.fixture(autouse=True)
def topic(engine: Engine) -> None:
    engine.log.create_topic(TOPIC, PARTITIONS)


def everything(engine: Engine, topic: str = TOPIC) -> dict[int, list[LogRecord]]:
    """All records of the topic, by partition."""
    ends = engine.log.end_offsets(topic)
    return {
        partition: list(engine.log.read(TopicPartition(topic, partition), 0, end + 1))
        for partition, end in ends.items()
    }


def one_partition(engine: Engine, count: int, topic: str = "single") -> TopicPartition:
    """A topic of one partition with records 0 .. count - 1, appended in uneven portions."""
    engine.log.create_topic(topic, 1)
    records, start = numbered(count), 0
    portions = random.Random(1)
    while start < count:
        portion = portions.choice((1, 2, 7, 40))
        engine.log.append(topic, records[start : start + portion])
        start += portion
    return TopicPartition(topic, 0)


def test_records_of_a_key_keep_their_order_in_the_partition_of_the_key(engine: Engine) -> None:
    records = numbered(500)
    for start in range(0, 500, 50):
        engine.log.append(TOPIC, records[start : start + 50])
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for partition, found in everything(engine).items():
        assert [record.offset for record in found] == list(range(len(found)))
        for record in found:
            assert partition_of(record.key, PARTITIONS) == partition
            by_key[record.key].append(int(record.value))
    assert by_key == {key: list(range(start, 500, 20)) for start, key in enumerate(f"acme/host:{n}" for n in range(20))}


def test_every_byte_and_every_kind_of_key_comes_back(engine: Engine) -> None:
    all_bytes = bytes(range(256))
    values = [b"", all_bytes, all_bytes * 300, b"\x00" * 5_000, b"\xff", random.Random(2).randbytes(70_000)]
    keys = ["", "acme/host:10.0.0.5", "acme/user:%C3%A9", "ünï/日本", "a\x00b", "🙂" * 100]
    records = [NewRecord(key, value) for key in keys for value in values]
    engine.log.append(TOPIC, records)
    found = [(record.key, record.value) for part in everything(engine).values() for record in part]
    assert sorted(found) == sorted(records)


def test_the_log_tells_when_it_took_a_record(engine: Engine) -> None:
    at = one_partition(engine, 200)
    times = [record.appended_at for record in engine.log.read(at, 0, 200)]
    assert times == sorted(times)
    assert min(times) > 1_577_836_800_000_000


def test_a_record_at_the_limit_passes(engine: Engine) -> None:
    key = "acme/host:ü"
    value = random.Random(3).randbytes(RECORD_LIMIT - len(key.encode()))
    engine.log.append(TOPIC, [NewRecord(key, value), NewRecord(key, b"next")])
    found = engine.log.read(TopicPartition(TOPIC, partition_of(key, PARTITIONS)), 0, 10)
    assert [record.value for record in found] == [value, b"next"]


def test_a_record_above_the_limit_stops_the_append_before_anything_is_written(engine: Engine) -> None:
    key, secret = "acme/host:1", b"hunter2"
    large = secret + bytes(RECORD_LIMIT + 1 - len(key) - len(secret))
    with pytest.raises(RecordTooLarge) as caught:
        engine.log.append(TOPIC, [*numbered(10), NewRecord(key, large)])
    assert secret.decode() not in str(caught.value)
    assert TOPIC in str(caught.value)
    assert set(engine.log.end_offsets(TOPIC).values()) == {0}


def test_an_empty_append_is_nothing(engine: Engine) -> None:
    engine.log.append(TOPIC, [])
    assert set(engine.log.end_offsets(TOPIC).values()) == {0}


@pytest.mark.parametrize(
    "call",
    [
        *("append", "append_placed", "partitions", "start_offsets", "end_offsets", "committed", "consumer", "read"),
        *("fetch", "trim", "stored_bytes", "newest_within"),
    ],
)
def test_an_unknown_topic_raises(engine: Engine, call: str) -> None:
    log, at = engine.log, TopicPartition("nowhere", 0)
    calls: dict[str, Callable[[], object]] = {
        "append": lambda: log.append("nowhere", numbered(1)),
        "append_placed": lambda: log.append_placed("nowhere", numbered(1)),
        "partitions": lambda: log.partitions("nowhere"),
        "start_offsets": lambda: log.start_offsets("nowhere"),
        "end_offsets": lambda: log.end_offsets("nowhere"),
        "committed": lambda: log.committed(GROUP, "nowhere"),
        "consumer": lambda: log.consumer(GROUP, ["nowhere"]),
        "read": lambda: log.read(at, 0, 1),
        "fetch": lambda: log.fetch(at, [0]),
        "trim": lambda: log.trim(at, 0),
        "stored_bytes": lambda: log.stored_bytes("nowhere"),
        "newest_within": lambda: log.newest_within(at, 0),
    }
    with pytest.raises(UnknownTopic, match="nowhere"):
        calls[call]()


def test_an_unknown_partition_raises(engine: Engine) -> None:
    with pytest.raises(UnknownTopic):
        engine.log.read(TopicPartition(TOPIC, PARTITIONS), 0, 1)


def test_a_topic_is_made_once(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(10))
    engine.log.create_topic(TOPIC, PARTITIONS)
    assert sum(engine.log.end_offsets(TOPIC).values()) == 10
    with pytest.raises(EngineError):
        engine.log.create_topic(TOPIC, PARTITIONS + 1)
    assert engine.log.partitions(TOPIC) == PARTITIONS


def test_reading_starts_and_stops_anywhere(engine: Engine) -> None:
    at = one_partition(engine, 700)
    chance = random.Random(4)
    for _ in range(100):
        start, limit = chance.randrange(0, 720), chance.randrange(1, 300)
        found = [int(record.value) for record in engine.log.read(at, start, limit)]
        assert found == list(range(700))[start : start + limit]


def test_single_records_are_fetched_by_offset(engine: Engine) -> None:
    at = one_partition(engine, 700)
    chance = random.Random(5)
    for _ in range(30):
        wanted = [chance.randrange(0, 720) for _ in range(25)]
        found = engine.log.fetch(at, wanted)
        assert {offset: (record.offset, int(record.value)) for offset, record in found.items()} == {
            offset: (offset, offset) for offset in wanted if offset < 700
        }
    assert engine.log.fetch(at, []) == {}


@pytest.mark.parametrize("offset", [0, 1, 333, 699, 700, 900])
def test_trimming_leaves_what_lies_at_or_above(engine: Engine, offset: int) -> None:
    at = one_partition(engine, 700)
    engine.log.trim(at, offset)
    kept = list(range(min(offset, 700), 700))
    assert engine.log.start_offsets(at.topic) == {0: min(offset, 700)}
    assert engine.log.end_offsets(at.topic) == {0: 700}
    assert [record.offset for record in engine.log.read(at, 0, 1_000)] == kept
    assert sorted(engine.log.fetch(at, range(700))) == kept


def test_trimming_never_moves_back(engine: Engine) -> None:
    at = one_partition(engine, 100)
    engine.log.trim(at, 60)
    engine.log.trim(at, 20)
    assert engine.log.start_offsets(at.topic) == {0: 60}


def test_appending_goes_on_after_all_was_trimmed(engine: Engine) -> None:
    at = one_partition(engine, 50)
    engine.log.trim(at, 50)
    engine.log.append(at.topic, numbered(3))
    assert [(record.offset, record.value) for record in engine.log.read(at, 0, 10)] == [
        (50, b"0"),
        (51, b"1"),
        (52, b"2"),
    ]


def test_an_append_can_tell_where_its_records_lie(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(30))
    records = numbered(300)
    places = engine.log.append_placed(TOPIC, records)
    assert len(places) == 300
    for record, place in zip(records, places, strict=True):
        (found,) = engine.log.read(TopicPartition(TOPIC, partition_of(record.key, PARTITIONS)), place, 1)
        assert (found.offset, found.key, found.value) == (place, record.key, record.value)
    assert engine.log.append_placed(TOPIC, []) == []


def test_bytes_follow_what_is_kept(engine: Engine) -> None:
    assert engine.log.stored_bytes(TOPIC) == dict.fromkeys(range(PARTITIONS), 0)
    at = noise(engine, 60)
    full = engine.log.stored_bytes(at.topic)[0]
    assert 60_000 < full < 80_000
    engine.log.trim(at, 30)
    assert 25_000 < engine.log.stored_bytes(at.topic)[0] < 40_000
    engine.log.trim(at, 60)
    assert engine.log.stored_bytes(at.topic) == {0: 0}
    engine.log.append(at.topic, [NewRecord("acme/a", random.Random(9).randbytes(1_000))])
    assert 1_000 <= engine.log.stored_bytes(at.topic)[0] < 2_000


@pytest.mark.parametrize("size", [0, 500, 5_000, 30_000, 59_000, 10**9])
def test_trimming_to_the_newest_bytes(engine: Engine, size: int) -> None:
    """As near as the engine can tell: never much more, nor much less."""
    at = noise(engine, 60)
    offset = engine.log.newest_within(at, size)
    engine.log.trim(at, offset)
    left = engine.log.stored_bytes(at.topic)[0]
    assert left <= size * 1.1
    assert left >= min(size, 60_000) * 0.9 - 2_000
    assert engine.log.end_offsets(at.topic) == {0: 60}
    assert engine.log.newest_within(at, 10**9) == min(offset, 60)


def noise(engine: Engine, count: int) -> TopicPartition:
    """A topic of one partition with records of a thousand bytes that no compression makes smaller."""
    engine.log.create_topic("noise", 1)
    chance = random.Random(8)
    for _ in range(count):
        engine.log.append("noise", [NewRecord("acme/a", chance.randbytes(1_000))])
    return TopicPartition("noise", 0)


def test_lag_counts_only_what_is_kept(engine: Engine) -> None:
    at = one_partition(engine, 100)
    assert lag(engine.log, GROUP, at.topic) == {0: 100}
    member = Driven(engine, topics=(at.topic,))
    until(lambda: bool(member.owned), member)
    member.consumer.commit({at: 30})
    assert lag(engine.log, GROUP, at.topic) == {0: 70}
    engine.log.trim(at, 45)
    assert lag(engine.log, GROUP, at.topic) == {0: 55}
    engine.log.trim(at, 100)
    assert lag(engine.log, GROUP, at.topic) == {0: 0}
    member.consumer.close()


def test_a_group_goes_on_at_the_oldest_record_kept(engine: Engine) -> None:
    at = one_partition(engine, 100)
    first = Driven(engine, topics=(at.topic,))
    until(lambda: bool(first.got), first)
    first.consumer.commit({at: 10})
    first.consumer.close()
    engine.log.trim(at, 40)

    def has_all(member: Driven) -> bool:
        return len(member.got) == 60

    for group in (GROUP, "never committed"):
        member = Driven(engine, group, (at.topic,))
        until(partial(has_all, member), member)
        assert [record.offset for _, record in member.got] == list(range(40, 100))
        member.consumer.close()


def test_another_process_reads_what_was_appended(adapter: Adapter, engine: Engine) -> None:
    with adapter.open() as other:
        engine.log.append(TOPIC, numbered(50))
        assert sum(len(found) for found in everything(other).values()) == 50
