"""Members of groups that are stopped, come and go, or read what others have written their own way."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from kafka import KafkaProducer

from engines.kafka import KafkaLog, open_log
from engines.kafka.options import KafkaOptions
from engines.log import Consumer, LogRecord, NewRecord, TopicPartition, lag
from schemas.errors import Fenced

pytestmark = pytest.mark.needs_services
TOPIC, GROUP = "observations", "group"
ROOT = Path(__file__).parents[3]
PATIENCE = 40.0
PARTITIONS = 6
KEYS = 24


@pytest.fixture
def log(shared: KafkaOptions) -> Iterator[KafkaLog]:
    with closing(open_log(shared, session_seconds=1.0)) as opened:
        yield opened


def until(holds: Callable[[], bool], *members: Consumer) -> list[LogRecord]:
    """Polls until it holds; what came meanwhile."""
    deadline = time.monotonic() + PATIENCE
    got = []
    while not holds():
        assert time.monotonic() < deadline, "this never came to hold"
        for member in members:
            got += [record for batch in member.poll(100, 0.05) for record in batch.records]
    return got


def test_a_member_that_was_stopped_and_taken_over_is_fenced_on_its_commit(log: KafkaLog, shared: KafkaOptions) -> None:
    log.create_topic(TOPIC, 2)
    log.append(TOPIC, [NewRecord(str(n), b"x") for n in range(20)])
    command = [sys.executable, "-m", "tests.faults.kafka.member_process", shared.servers, shared.prefix]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "holding\n"
        child.send_signal(signal.SIGSTOP)
        heir = log.consumer(GROUP, [TOPIC])
        until(lambda: len(heir.assignment()) == 2, heir)
        child.send_signal(signal.SIGCONT)
        child.stdin.write("go\n")
        child.stdin.flush()
        assert child.stdout.readline() == "fenced\n"
    assert log.committed(GROUP, TOPIC) == {}
    heir.close()


class Worker(threading.Thread):
    """A member that notes what it handles before it commits, as a service makes its results durable."""

    def __init__(self, options: KafkaOptions, noted: list[tuple[TopicPartition, LogRecord]]) -> None:
        super().__init__(daemon=True)
        self._options = options
        self._noted = noted
        self._handled: dict[TopicPartition, int] = {}
        self.leave = threading.Event()
        self.owned = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with closing(open_log(self._options, session_seconds=10.0)) as log:
                while not self.leave.is_set():
                    self._serve(log)
        except BaseException as error:  # noqa: BLE001 - told by the test
            self.failure = error

    def _serve(self, log: KafkaLog) -> None:
        self._handled.clear()

        def revoke(partitions: Sequence[TopicPartition]) -> None:
            member.commit({at: self._handled[at] for at in partitions if at in self._handled})

        member = log.consumer(GROUP, [TOPIC], on_revoke=revoke)
        try:
            while not self.leave.is_set():
                batches = member.poll(50, 0.05)
                for batch in batches:
                    self._noted.extend((batch.at, record) for record in batch.records)
                    self._handled[batch.at] = batch.next_offset
                self.owned = len(member.assignment())
                if random.random() < 0.3:
                    member.commit({batch.at: batch.next_offset for batch in batches})
        except Fenced:
            # as a host does: it joins again
            self._handled.clear()
        finally:
            self.owned = 0
            member.close()


@pytest.mark.parametrize("joins", [10, pytest.param(60, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("cooperative", [True, False])
def test_joins_and_leaves_under_load_lose_nothing_and_keep_the_order_of_a_key(
    log: KafkaLog, shared: KafkaOptions, cooperative: bool, joins: int
) -> None:
    options = replace(shared, cooperative=cooperative)
    log.create_topic(TOPIC, PARTITIONS)
    noted: list[tuple[TopicPartition, LogRecord]] = []
    workers: list[Worker] = []
    everyone: list[Worker] = []
    chance, number = random.Random(1), 0

    def settled() -> bool:
        loads = [worker.owned for worker in workers]
        return sum(loads) == PARTITIONS and max(loads) - min(loads) <= 1

    for _ in range(joins):
        if len(workers) < 4 and (len(workers) < 2 or chance.random() < 0.5):
            workers.append(Worker(options, noted))
            everyone.append(workers[-1])
            workers[-1].start()
        else:
            workers.pop(chance.randrange(len(workers))).leave.set()
        deadline = time.monotonic() + PATIENCE
        while not settled():
            assert time.monotonic() < deadline, [worker.failure for worker in everyone]
            log.append(TOPIC, [NewRecord(f"acme/{n % KEYS}", str(n).encode()) for n in range(number, number + 50)])
            number += 50
    deadline = time.monotonic() + PATIENCE
    while {int(record.value) for _, record in list(noted)} != set(range(number)):
        assert time.monotonic() < deadline
        assert [worker.failure for worker in everyone if worker.failure] == []
        time.sleep(0.05)
    for worker in everyone:
        worker.leave.set()
    for worker in everyone:
        worker.join(PATIENCE)
    assert [worker.failure for worker in everyone if worker.failure] == []
    firsts: defaultdict[str, dict[int, None]] = defaultdict(dict)
    for _, record in noted:
        firsts[record.key].setdefault(int(record.value))
    assert all(list(values) == sorted(values) for values in firsts.values())
    # a clean handover repeats nothing; what a commit in between could not write may come twice
    assert len(noted) < 1.5 * number


def test_a_log_trimmed_under_its_reader_goes_on_at_the_oldest_kept(log: KafkaLog) -> None:
    log.create_topic(TOPIC, 1)
    at = TopicPartition(TOPIC, 0)
    log.append(TOPIC, [NewRecord("a", str(n).encode()) for n in range(100)])
    member = log.consumer(GROUP, [TOPIC])
    until(lambda: bool(member.assignment()), member)
    member.seek(at, 100)
    member.poll(10, 0.1)
    log.trim(at, 60)
    member.seek(at, 10)
    got: list[LogRecord] = []
    deadline = time.monotonic() + PATIENCE
    while len(got) < 40:
        assert time.monotonic() < deadline
        got += [record for batch in member.poll(100, 0.2) for record in batch.records]
    assert [record.offset for record in got] == list(range(60, 100))
    member.close()


def test_a_static_member_that_restarts_moves_no_partition(log: KafkaLog, shared: KafkaOptions) -> None:
    log.create_topic(TOPIC, 4)
    handed: list[TopicPartition] = []
    other = log.consumer(GROUP, [TOPIC], on_revoke=handed.extend, on_assign=handed.extend)
    with closing(open_log(replace(shared, member="one"), session_seconds=20.0)) as first:
        static = first.consumer(GROUP, [TOPIC])
        until(lambda: len(static.assignment()) == 2 and len(other.assignment()) == 2, static, other)
        own = set(static.assignment())
        generations = static.assignment()
        static.close()
    handed.clear()
    with closing(open_log(replace(shared, member="one"), session_seconds=20.0)) as second:
        again = second.consumer(GROUP, [TOPIC])
        until(lambda: len(again.assignment()) == 2, again, other)
        assert set(again.assignment()) == own
        assert handed == []
        assert all(again.assignment()[at] > generations[at] for at in own)
        again.close()
    other.close()


def test_what_a_foreign_producer_leaves_out_stops_nobody(log: KafkaLog, shared: KafkaOptions) -> None:
    log.create_topic(TOPIC, 1)
    foreign = KafkaProducer(bootstrap_servers=shared.servers)
    for key, value in ((None, b"1"), (b"\xff\xfe", b"2"), (b"gone", None), (b"acme/a", b"4")):
        foreign.send(f"{shared.prefix}.{TOPIC}", key=key, value=value, partition=0).get(10)
    foreign.close()
    expected = [("", b"1"), ("", b"2"), ("gone", b""), ("acme/a", b"4")]
    at = TopicPartition(TOPIC, 0)
    assert [(record.key, record.value) for record in log.read(at, 0, 10)] == expected
    member = log.consumer(GROUP, [TOPIC])
    got: list[LogRecord] = []
    while len(got) < 4:
        got += until(lambda: True) or [record for batch in member.poll(10, 1.0) for record in batch.records]
    assert [(record.key, record.value) for record in got] == expected
    member.close()


def test_what_is_no_record_counts_as_handled_and_what_was_given_up_is_not_read(
    log: KafkaLog, shared: KafkaOptions
) -> None:
    log.create_topic(TOPIC, 1)
    at = TopicPartition(TOPIC, 0)
    foreign = KafkaProducer(bootstrap_servers=shared.servers, transactional_id=f"{shared.prefix}.foreign")
    foreign.init_transactions()
    for turn, keep in enumerate((True, False, True)):
        foreign.begin_transaction()
        for number in range(3):
            foreign.send(f"{shared.prefix}.{TOPIC}", key=b"a", value=b"%d%d" % (turn, number), partition=0)
        foreign.flush()
        if keep:
            foreign.commit_transaction()
        else:
            foreign.abort_transaction()
    foreign.close()
    expected = [b"00", b"01", b"02", b"20", b"21", b"22"]
    assert [record.value for record in log.read(at, 0, 100)] == expected
    member = log.consumer(GROUP, [TOPIC])
    got: list[bytes] = []
    deadline = time.monotonic() + PATIENCE
    while len(got) < 6 or lag(log, GROUP, TOPIC) != {0: 0}:
        assert time.monotonic() < deadline
        for batch in member.poll(2, 0.2):
            got += [record.value for record in batch.records]
            handled = batch.next_offset
        member.commit({at: handled})
    assert got == expected
    member.close()
