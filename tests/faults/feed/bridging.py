"""A foreign topic on any engine, bridges from it in this process and in others, and what they leave behind."""

from __future__ import annotations

import json
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.failpoints import VARIABLE
from engines.kafka.options import KafkaOptions
from engines.log import EventLog, NewRecord, TopicPartition
from engines.topics import ALL, DEFAULT_PARTITIONS, OBSERVATIONS
from schemas.observation import Observation
from tests.acceptance.command import Answer, casetape, command, environment
from tests.conformance.adapter import Adapter
from tests.faults.feed.feeding import clock, records
from tests.servers.shared import servers
from workers.feed.bridge import Bridge
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.quarantine import Listed, listing

PARTITIONS = 4
PATIENCE = 90.0
KEYS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
"""Of the foreign topic, and of no meaning to anybody here: they spread a subject's records over its partitions."""


@dataclass
class Rig:
    """A topic `topic` by its full name, and the engine that is bridged to, whose home or prefix is the adapter's."""

    adapter: Adapter
    home: Path
    topic: str = field(default_factory=lambda: f"foreign-{uuid.uuid4().hex[:12]}")

    @property
    def env(self) -> Mapping[str, str]:
        """The settings of the command line."""
        if self.adapter.name == "sqlite":
            return {}
        found = servers()
        return {
            "CASETAPE_ENGINE": "cluster",
            "CASETAPE_KAFKA__SERVERS": found.kafka,
            "CASETAPE_REDIS__URL": found.redis,
            "CASETAPE_PREFIX": self.adapter.place,
            # so long the others wait for one that was killed
            "CASETAPE_SESSION": "3",
        }

    @contextmanager
    def source(self, opened: Engine) -> Iterator[EventLog]:
        """The log on which the topic has its full name."""
        if self.adapter.name == "sqlite":
            yield opened.log
            return
        # a client that tests of the other engine need not have
        from engines.kafka import open_log

        log = open_log(KafkaOptions(servers().kafka, prefix=""), session_seconds=30.0)
        try:
            yield log
        finally:
            log.close()

    def clear(self) -> None:
        """Removes the data, and the topic, which has no prefix by which it would be found."""
        self.adapter.clear()
        if self.adapter.name == "cluster":
            # the same client
            from kafka import KafkaAdminClient

            admin = KafkaAdminClient(bootstrap_servers=servers().kafka)
            admin.delete_topics([one for one in admin.list_topics() if one == self.topic])
            admin.close()

    def put(self, values: Sequence[bytes], keys: Sequence[str] = KEYS) -> None:
        """Appends to the topic, the keys in turn; makes what topics are missing."""
        with self.adapter.open() as opened, self.source(opened) as log:
            for topic in ALL:
                opened.log.create_topic(topic, DEFAULT_PARTITIONS)
            log.create_topic(self.topic, PARTITIONS)
            log.append(self.topic, [NewRecord(keys[at % len(keys)], one) for at, one in enumerate(values)])

    def feed(self, *args: str, kind: str = "zeek") -> Answer:
        """`casetape feed --from-topic` up to its end."""
        more = ("--from-topic", self.topic, "--kind", kind, "--until-end", "--json")
        return casetape(self.home, "feed", *more, *args, env=self.env)

    def fed(self, *args: str, kind: str = "zeek") -> FeedCounts:
        """Its counts, which must close."""
        counts = FeedCounts(**self.feed(*args, kind=kind).json)
        assert counts.closes
        return counts

    def start(self, *args: str, fail_at: str | None = None) -> subprocess.Popen[bytes]:
        """The same as a process of its own, without an end unless asked for; `fail_at` names where it dies."""
        line = command("feed", "--from-topic", self.topic, "--kind", "zeek", "--json", *args)
        env = environment(self.home, {**self.env, **({VARIABLE: fail_at} if fail_at else {})})
        return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def tape(self) -> list[Observation]:
        """All observations on the tape, each proved by its id, repeats included; of each case in their order."""
        with self.adapter.open() as opened:
            return [Observation.parse(one.value).proven() for one in records(opened, OBSERVATIONS)]

    def quarantine(self) -> list[Listed]:
        """What the list of the quarantine says."""
        with self.adapter.open() as opened:
            return list(listing(opened.log, opened.store))


def ended(one: subprocess.Popen[bytes]) -> FeedCounts:
    """The counts that a bridge printed when it ended, as it should."""
    out, err = one.communicate(timeout=PATIENCE)
    assert one.returncode == 0, err.decode()
    counts = FeedCounts(**json.loads(out))
    assert counts.closes
    return counts


def until(holds: Callable[[], bool]) -> None:
    """Waits until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "this never came to hold"
        time.sleep(0.05)


def conn(number: int, subject: int | None = None, **more: Any) -> bytes:
    """A connection a minute after the one before, of one of 50 hosts or the one given."""
    host = number % 50 if subject is None else subject
    record = {"_path": "conn", "ts": 1588205199 + 60 * number, "uid": f"C{number}", "id.orig_h": f"10.0.0.{host}"}
    return json.dumps({**record, **more}).encode()


class Driven:
    """A bridge in this process, as its host would run it, a step at a time."""

    def __init__(self, opened: Engine, source: EventLog, topic: str, options: FeedOptions, group: str) -> None:
        self.bridge = Bridge(source, opened.log, topic, options, clock, group=group)
        self.consumer = source.consumer(group, [topic], on_assign=self._assigned, on_revoke=self._revoked)
        self.owned: set[TopicPartition] = set()

    def step(self, limit: int = 500) -> int:
        """Polls once, handles, commits; how many records came."""
        batches = self.consumer.poll(limit, 0.02)
        done = self.bridge.handle(batches) if batches else self.bridge.idle()
        if done:
            self.consumer.commit(done)
        return sum(len(batch.records) for batch in batches)

    def _assigned(self, partitions: Sequence[TopicPartition]) -> None:
        self.owned |= set(partitions)
        self.bridge.assigned(self.consumer, partitions)

    def _revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self.owned -= set(partitions)
        self.consumer.commit(self.bridge.revoking(partitions))
