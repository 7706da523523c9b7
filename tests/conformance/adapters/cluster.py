"""The cluster engine, as the conformance kit opens it: Kafka and Redis under a prefix of the test's own."""

from __future__ import annotations

import uuid
from dataclasses import replace

from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.opening import ClusterOptions, open_engine
from engines.redis.options import RedisOptions
from tests.servers.shared import servers


class ClusterAdapter:
    """Topics, groups and keys under a prefix of the test's own, on servers that all tests share."""

    name = "cluster"
    short_session = 1.0

    def __init__(self, place: str) -> None:
        # a test gives a folder, its child processes what `place` became: the prefix
        self.place = place if place.startswith("test-") else f"test-{uuid.uuid4().hex[:12]}"
        found = servers()
        self._options = ClusterOptions(
            KafkaOptions(found.kafka, prefix=self.place), RedisOptions(found.redis, prefix=self.place)
        )

    def open(self, session_seconds: float = 30.0) -> Engine:
        # a member that does not poll is put out when this is over: by default long after its session
        kafka = replace(self._options.kafka, poll_seconds=6 * session_seconds)
        return open_engine(replace(self._options, kafka=kafka), session_seconds=session_seconds)

    def clear(self) -> None:
        # its clients are of no use to tests of the other engine
        from engines.cluster import clear

        clear(self._options)
