"""The host on an embedded engine, offered records by hand as Faust would, or as it should not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engines import topics
from engines.engine import Engine
from engines.log import LogRecord, NewRecord, TopicPartition
from engines.sqlite import open_engine
from engines.topics import OBSERVATIONS, VERSIONS
from schemas.analysis import Analysis
from schemas.observation import Observation
from schemas.version import StateVersion
from tests.factories import START, observation
from workers.asynchronous.host import AsyncHost
from workers.asynchronous.options import AsyncOptions
from workers.detection.plugin import Answer, AsyncDetector, Finding
from workers.detection.snapshot import Counts, counts_of, owner_of

AT = TopicPartition(OBSERVATIONS, 0)
GROUP = "detect-async-set"


class Held(AsyncDetector):
    """Answers about an observation when it is let go; `asked` holds the numbers it was asked about."""

    name = "held"
    kinds = ("zeek.conn",)
    concurrency = 4

    def __init__(self, *, free: bool = False) -> None:
        super().__init__()
        self.free = free
        self.asked: list[int] = []
        self._free: dict[int, asyncio.Event] = {}

    def let_go(self, *numbers: int) -> None:
        """Answers about these."""
        for number in numbers:
            self._free.setdefault(number, asyncio.Event()).set()

    async def detect(self, observation: Observation) -> Answer:
        number = int((observation.data or {})["n"])
        self.asked.append(number)
        if not self.free:
            await self._free.setdefault(number, asyncio.Event()).wait()
        return Finding("suspicious", 0.5, fingerprint=f"number {number}")


@dataclass
class Stand:
    """A home with one partition, fed with observations 0 to `count` - 1."""

    home: Path
    count: int = 10
    acked: list[int] = field(default_factory=list)
    rewound: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        with open_engine(self.home) as engine:
            for topic in topics.ALL:
                engine.log.create_topic(topic, 1)
            made = [observation(n) for n in range(self.count)]
            engine.log.append(OBSERVATIONS, [NewRecord(one.case, one.encode()) for one in made])

    @asynccontextmanager
    async def host(self, detector: AsyncDetector, generation: int = 1, **options: Any) -> AsyncIterator[AsyncHost]:
        """A host that has the partition."""
        fixed: dict[str, Any] = {"save": 0.0, "grace": 0.3}
        host = AsyncHost(self._opened(), [detector], AsyncOptions("set", **(fixed | options)), lambda: START)
        await host.start()
        await host.assigned([AT], generation)
        assert host.error is None, host.error
        try:
            yield host
        finally:
            await host.close()

    @contextmanager
    def _opened(self) -> Iterator[Engine]:
        """Opened by the thread that uses it, as SQLite asks."""
        with open_engine(self.home) as engine:
            yield engine

    async def offer(self, host: AsyncHost, *offsets: int, generation: int = 1) -> None:
        """Offers the records at these offsets, in this order."""
        with open_engine(self.home) as engine:
            records = engine.log.fetch(AT, list(offsets))
        for offset in offsets:
            await self.offer_record(host, records[offset], generation)

    async def offer_record(self, host: AsyncHost, record: LogRecord, generation: int = 1) -> None:
        """Offers one."""
        await host.offer(AT, record, generation, lambda: self.acked.append(record.offset), self._rewind)

    async def _rewind(self, at: TopicPartition, offset: int) -> None:
        self.rewound.append(offset)

    def counts(self) -> tuple[Counts, int]:
        """The counts as they are saved, and the offset up to which."""
        with open_engine(self.home) as engine:
            manifest = engine.store.manifest(owner_of(GROUP, AT))
        assert manifest is not None
        return counts_of(manifest)[0], manifest.offset

    def said(self) -> list[str]:
        """The fingerprints of all analyses on the tape, as often as they were published."""
        with open_engine(self.home) as engine:
            values = [one.value for one in engine.log.read(TopicPartition(VERSIONS, 0), 0, 1_000)]
        contents = [content.opened() for value in values for content in StateVersion.parse(value).contents]
        return sorted(one.fingerprint for one in contents if isinstance(one, Analysis))


async def until(done: Callable[[], bool]) -> None:
    """Waits until it is done."""
    async with asyncio.timeout(20.0):
        while not done():
            await asyncio.sleep(0.01)
