"""Brokers that fall silent, die, or were never there."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest

from engines.kafka import open_log
from engines.kafka.options import KafkaOptions
from engines.log import Consumer, NewRecord, TopicPartition
from schemas.errors import CasetapeError, EngineUnavailable
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports

pytestmark = pytest.mark.needs_services
TOPIC = "observations"
AT = TopicPartition(TOPIC, 0)
PATIENCE = 30.0


def again(call: Callable[[], object]) -> None:
    """Calls until it is answered."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            call()
        except EngineUnavailable:
            assert time.monotonic() < until
        else:
            return


def polled(member: Consumer) -> None:
    """Polls for as long as a test has patience."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        member.poll(10, 0.5)


def timed(call: Callable[[], object]) -> tuple[float, CasetapeError]:
    """How long a call took to fail, and with what."""
    start = time.monotonic()
    with pytest.raises(CasetapeError) as caught:
        call()
    return time.monotonic() - start, caught.value


def test_a_silent_broker_fails_each_call_in_time_and_all_go_on_when_it_is_back(
    broker: KafkaServer, own: KafkaOptions
) -> None:
    with closing(open_log(own, session_seconds=30.0)) as log:
        log.create_topic(TOPIC, 1)
        log.append(TOPIC, [NewRecord("a", b"0")])
        member = log.consumer("group", [TOPIC])
        got: list[bytes] = []

        def poll() -> None:
            got.extend(record.value for batch in member.poll(10, 0.5) for record in batch.records)

        while not got:
            poll()
        assert [record.value for record in log.read(AT, 0, 10)] == [b"0"]
        broker.send(signal.SIGSTOP)
        try:
            calls = {
                "append": lambda: log.append(TOPIC, [NewRecord("a", b"1")]),
                "append again": lambda: log.append(TOPIC, [NewRecord("a", b"1")]),
                "read": lambda: log.read(AT, 0, 10),
                "ends": lambda: log.end_offsets(TOPIC),
                "commit": lambda: member.commit({AT: 1}),
            }
            for name, call in calls.items():
                seconds, error = timed(call)
                assert isinstance(error, EngineUnavailable), name
                assert seconds < own.append_seconds + own.reach_seconds + 2, name
        finally:
            broker.send(signal.SIGCONT)
        again(lambda: log.append(TOPIC, [NewRecord("a", b"2")]))
        again(lambda: log.append(TOPIC, [NewRecord("a", b"3")]))
        again(lambda: member.commit({AT: 1}))
        values = [record.value for record in log.read(AT, 0, 100)]
        # what was not acknowledged may be there, and comes before what was appended after it
        assert [value for value in values if value != b"1"] == [b"0", b"2", b"3"]
        until = time.monotonic() + PATIENCE
        while b"3" not in got:
            assert time.monotonic() < until
            poll()
        member.close()


def test_acknowledged_records_survive_a_killed_broker_in_order(broker: KafkaServer, own: KafkaOptions) -> None:
    with closing(open_log(own)) as log:
        log.create_topic(TOPIC, 2)
        acknowledged = []
        for number in range(40):
            if number == 20:
                broker.kill()
                broker.launch()
            again(partial(log.append, TOPIC, [NewRecord("a", str(number).encode())]))
            acknowledged.append(number)
        found = [int(r.value) for p in (0, 1) for r in log.read(TopicPartition(TOPIC, p), 0, 1_000)]
        firsts = list(dict.fromkeys(found))
        assert firsts == acknowledged


def test_closing_ends_in_time_while_the_broker_is_silent(broker: KafkaServer, own: KafkaOptions) -> None:
    log = open_log(own)
    log.create_topic(TOPIC, 1)
    log.append(TOPIC, [NewRecord("a", b"0")])
    member = log.consumer("group", [TOPIC], on_revoke=lambda partitions: member.commit(dict.fromkeys(partitions, 1)))
    while not member.poll(10, 1.0):
        pass
    broker.send(signal.SIGSTOP)
    try:
        seconds, error = timed(member.close)
        assert isinstance(error, EngineUnavailable)
        assert seconds < 15
        start = time.monotonic()
        log.close()
        assert time.monotonic() - start < 15
    finally:
        broker.send(signal.SIGCONT)


def test_a_member_tells_that_the_broker_is_away_and_goes_on_when_it_is_back(
    broker: KafkaServer, own: KafkaOptions
) -> None:
    with closing(open_log(own, session_seconds=30.0)) as log:
        log.create_topic(TOPIC, 1)
        member = log.consumer("group", [TOPIC])
        while not member.assignment():
            member.poll(10, 0.5)
        broker.kill()
        with pytest.raises(EngineUnavailable, match="answered"):
            polled(member)
        broker.launch()
        again(lambda: log.append(TOPIC, [NewRecord("a", b"1")]))
        got = 0
        until = time.monotonic() + PATIENCE
        while not got:
            assert time.monotonic() < until
            got = sum(len(batch.records) for batch in member.poll(10, 0.5))
        member.close()


def test_no_broker_is_one_clear_message_in_time() -> None:
    (port,) = free_ports(1)
    options = KafkaOptions(f"127.0.0.1:{port}", reach_seconds=2.0)
    seconds, error = timed(lambda: open_log(options))
    assert seconds < 5
    assert isinstance(error, EngineUnavailable)
    assert str(error) == (
        f"Kafka at 127.0.0.1:{port} does not answer: connection refused. Start it, or correct `kafka.servers`"
    )


def test_a_broker_that_takes_connections_and_says_nothing_is_found_out(broker: KafkaServer, own: KafkaOptions) -> None:
    broker.send(signal.SIGSTOP)
    try:
        seconds, error = timed(lambda: open_log(own))
    finally:
        broker.send(signal.SIGCONT)
    assert seconds < 6
    assert isinstance(error, EngineUnavailable)
