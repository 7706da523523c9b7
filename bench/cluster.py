"""`python -m bench.cluster [RECORDS]`: on Kafka and Redis of its own, detection by one worker and by two against a bare
kafka-python loop that consumes and decodes the same topic; and what a merger commits on Redis."""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPartition

from bench import traffic
from casetape.opening import make_topics, working
from casetape.run import now
from casetape.services.options import worker_options
from casetape.services.starting import MANIFESTS
from casetape.settings import Settings
from casetape.settings_engines import KafkaSettings, RedisSettings
from engines.engine import Engine
from engines.log import Batch, NewRecord, TopicPartition, lag
from engines.topics import OBSERVATIONS, STATES, VERSIONS
from merge.merger import Merger
from merge.tape import MERGER
from tests import factories
from tests.servers.kafka import KafkaServer
from tests.servers.redis import RedisServer
from workers.detection.snapshot import body_of
from workers.feed.feeder import Feeder
from workers.feed.options import FeedOptions
from workers.runtime.host import POLL_RECORDS
from workers.runtime.supervisor import Supervisor

RECORDS = 300_000
PARTITIONS = 4
CASES, BRANCHES = 1_000, 20


class Servers(NamedTuple):
    """Where they are."""

    kafka: str
    redis: str
    folder: Path

    def settings(self, prefix: str) -> Settings:
        """Settings under a prefix of their own."""
        return Settings(
            home=self.folder / "home",
            engine="cluster",
            kafka=KafkaSettings(servers=self.kafka),
            redis=RedisSettings(url=self.redis),
            prefix=prefix,
            partitions=PARTITIONS,
        )


@contextmanager
def servers() -> Iterator[Servers]:
    """A broker and a Redis of the bench's own, on this machine."""
    with tempfile.TemporaryDirectory(prefix="casetape-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        kafka, redis = KafkaServer(folder / "kafka", heap=1024), RedisServer(folder / "redis")
        stack.callback(kafka.kill)
        stack.callback(redis.kill)
        kafka.start()
        redis.start()
        yield Servers(kafka.address, redis.url, folder)


def bare(at: Servers, topic: str) -> float:
    """Records a second of a loop that polls and decodes, and commits nothing."""
    consumer = KafkaConsumer(
        bootstrap_servers=at.kafka, enable_auto_commit=False, max_poll_records=POLL_RECORDS, group_id=None
    )
    partitions = [KafkaPartition(topic, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    total = sum(consumer.end_offsets(partitions).values())
    count, started = 0, time.perf_counter()
    while count < total:
        for records in consumer.poll(1_000).values():
            for record in records:
                json.loads(record.value)
            count += len(records)
    seconds = time.perf_counter() - started
    consumer.close()
    return count / seconds


class Detected(NamedTuple):
    """Records a second: looked at and saved; and with all windows concluded and published."""

    looked: float
    concluded: float


def detection(settings: Settings, workers: int, engine: Engine) -> Detected:
    """Of so many workers, from the moment that all are at work."""
    supervisor = Supervisor(lambda sentence: None)
    try:
        for number in range(workers):
            supervisor.start(f"worker {number}", "casetape.services.worker", worker_options(settings, bounded=True))
        _until(lambda: len(_owned(supervisor)) == PARTITIONS and all(one for one in _each(supervisor)))
        ends = engine.log.end_offsets(OBSERVATIONS)
        left = sum(ends.values()) - sum(_saved(engine).values())
        started = time.perf_counter()
        _until(lambda: _saved(engine) == ends, supervisor.look_after)
        looked = time.perf_counter() - started
        supervisor.until(ends)
        _until(lambda: _concluded(engine) == ends, supervisor.look_after)
        return Detected(left / looked, left / (time.perf_counter() - started))
    finally:
        supervisor.stop()


def _saved(engine: Engine) -> Mapping[int, int]:
    held = engine.store.manifests(MANIFESTS)
    return {int(name.rpartition("/")[2]): one.offset for name, one in held.items()}


def _each(supervisor: Supervisor) -> list[frozenset[TopicPartition]]:
    return [one.owned or frozenset() for one in supervisor.services()]


def _owned(supervisor: Supervisor) -> frozenset[TopicPartition]:
    return frozenset[TopicPartition]().union(*_each(supervisor))


def _concluded(engine: Engine) -> Mapping[int, int]:
    held = engine.store.manifests(MANIFESTS)
    return {int(name.rpartition("/")[2]): body_of(one).concluded for name, one in held.items()}


def _until(holds: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
    while not holds():
        meanwhile()
        time.sleep(0.02)


def merging(settings: Settings) -> tuple[float, float]:
    """Branch versions a second that a merger takes off the tape, commits and publishes, over many cases; and those that
    it commits alone, once they are in its hands."""
    # as in every service's own process (`workers.runtime.child`): what a batch makes lives until the batch is done
    gc.set_threshold(100_000, 50, 100)
    with working(settings) as engine:
        make_topics(engine, settings)
        branches = [
            factories.finding(turn, subject=f"host:10.0.{case >> 8}.{case & 255}", at=factories.START + turn)
            for turn in range(BRANCHES)
            for case in range(CASES)
        ]
        records = factories.appended(*branches)
        for start in range(0, len(records), 5_000):
            engine.log.append(VERSIONS, records[start : start + 5_000])
        merger = Merger(engine.log, engine.store)
        consumer = engine.log.consumer(merger.group, merger.topics)
        handled = 0
        began = 0.0
        inside = 0.0
        while handled < len(records):
            batches: Sequence[Batch] = consumer.poll(10_000, 0.5)
            if not batches:
                continue
            began = began or time.perf_counter()
            entered = time.perf_counter()
            consumer.commit(merger.handle(batches))
            inside += time.perf_counter() - entered
            handled += sum(len(batch.records) for batch in batches)
        seconds = time.perf_counter() - began
        consumer.close()
        assert not any(lag(engine.log, MERGER, VERSIONS).values())
        assert merger.stats.branches == len(records)
        assert sum(engine.log.end_offsets(STATES).values()) == merger.stats.versions
        assert sum(row.analyses for row in engine.store.cases(None)) > 0
        return handled / seconds, handled / inside


def fed(settings: Settings, records: int, folder: Path) -> None:
    """Puts a made-up connection log on the tape."""
    path = folder / "conn.log"
    traffic.write(path, records)
    with working(settings) as engine:
        make_topics(engine, settings)
        Feeder(engine.log, engine.store, FeedOptions(), now).feed_path(path)


def copied(source: Settings, target: Settings) -> None:
    """The same observations under another prefix, so that other workers have them as new ones."""
    with working(source) as one, working(target) as other:
        make_topics(other, target)
        for partition, end in one.log.end_offsets(OBSERVATIONS).items():
            for start in range(0, end, 10_000):
                page = one.log.read(TopicPartition(OBSERVATIONS, partition), start, 10_000)
                other.log.append(OBSERVATIONS, [NewRecord(record.key, record.value) for record in page])


def main() -> None:
    """Prints rates and ratios."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with servers() as at:
        one, two = at.settings("one"), at.settings("two")
        fed(one, records, at.folder)
        copied(one, two)
        loop = bare(at, f"one.{OBSERVATIONS}")
        with working(one) as engine:
            alone = detection(one, 1, engine)
        with working(two) as engine:
            both = detection(two, 2, engine)
        print(f"{records:,} records on {os.cpu_count()} cores: bare loop {loop:,.0f}/s", flush=True)
        for what, one_worker, two_workers in zip(("looked at", "with windows concluded"), alone, both, strict=True):
            print(
                f"  {what}: one worker {one_worker:,.0f}/s ({one_worker / loop:.2f} of the loop), two workers"
                f" {two_workers:,.0f}/s ({two_workers / one_worker:.2f} of one)",
                flush=True,
            )
        whole, inside = merging(at.settings("merging"))
        print(
            f"merger, {CASES * BRANCHES:,} branch versions over {CASES:,} cases: {whole:,.0f}/s with reading them,"
            f" {inside:,.0f}/s from the batch to the commit",
            flush=True,
        )


if __name__ == "__main__":
    main()
