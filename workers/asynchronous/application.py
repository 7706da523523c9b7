"""The Faust application around the host: it brings the records and commits what was acknowledged, and that is all.

Faust is trusted with nothing that would lose a record. Its agent never raises; what it skips is noticed and fetched; it
acknowledges in order and only what is saved; partitions are claimed in the store, not by Faust's word; and whether it
still brings anything is watched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import faust
from faust.streams import Stream
from faust.types import TP, EventT

from engines.kafka.options import KafkaOptions
from engines.log import LogRecord, TopicPartition
from engines.topics import OBSERVATIONS
from workers.asynchronous.host import AsyncHost
from workers.asynchronous.reaching import reaching
from workers.asynchronous.transport import Transport
from workers.asynchronous.watchdog import Stuck, Watchdog

BUFFER_RECORDS = 256
"""So many records Faust may hold that the host has not taken yet."""
COMMIT_SECONDS = 1.0
_REQUEST_SECONDS = 40.0
_NEVER_SECONDS = 7 * 86_400.0
"""Faust's own limit between two polls: taking no more for a while is how memory stays bounded, and is no fault."""


class Application(faust.App):
    """Reads `observations` for a host, in the host's group. Starting it opens the host's engine. `on_stuck` is called,
    in a thread of its own, when records wait and nothing is finished: it ends the process."""

    def __init__(self, host: AsyncHost, kafka: KafkaOptions, on_stuck: Callable[[Stuck], None]) -> None:
        self.host = host
        self._watchdog = Watchdog(host, on_stuck)
        session = host.options.session
        super().__init__(
            f"{kafka.prefix}.{host.options.group}",
            **reaching(kafka),
            autodiscover=False,
            broker_commit_interval=COMMIT_SECONDS,
            broker_heartbeat_interval=session / 4,
            broker_max_poll_interval=_NEVER_SECONDS,
            broker_request_timeout=max(_REQUEST_SECONDS, session),
            broker_session_timeout=session,
            consumer_auto_offset_reset="earliest",
            reply_create_topic=False,
            stream_buffer_maxsize=BUFFER_RECORDS,
            stream_wait_empty=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            worker_redirect_stdouts=False,
        )
        self.on_partitions_assigned.connect(self._assigned)
        self.on_partitions_revoked.connect(self._revoked)
        self.on_before_shutdown.connect(self._revoked)
        topic = self.topic(
            f"{kafka.prefix}.{OBSERVATIONS}",
            key_type=bytes,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
        )
        self.agent(topic, name="look")(self._look)  # type: ignore[arg-type]  # Faust's own interface lacks `noack`

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    async def on_first_start(self) -> None:
        """Makes none of the folders that Faust would make where the process was started: nothing is kept in them."""

    async def on_start(self) -> None:
        """Opens the host's engine before anything else. Raises what that raises."""
        await self.host.start()
        self.add_future(self._watch_host())
        self.add_future(self._watchdog.look())
        self._watchdog.start()
        await super().on_start()

    async def on_shutdown(self) -> None:
        """The host is the last to leave."""
        self._watchdog.stop()
        await super().on_shutdown()
        await self.host.close()

    async def _look(self, stream: Stream[bytes]) -> None:
        async for event in stream.noack().events():
            try:
                await self._offer(event)
            except Exception as error:  # noqa: BLE001 - an agent that raises loses its record: the process ends instead
                self.host.fail(error)
                await asyncio.Event().wait()

    async def _offer(self, event: EventT[bytes]) -> None:
        message = event.message
        record = LogRecord(
            message.offset, _key(message.key), message.value or b"", round((message.timestamp or 0) * 1_000) * 1_000
        )
        at = TopicPartition(OBSERVATIONS, message.partition)
        generation = -1 if message.generation_id is None else message.generation_id
        await self.host.offer(at, record, generation, event.ack, self._rewind)

    async def _rewind(self, at: TopicPartition, offset: int) -> None:
        for tp in self.consumer.assignment():
            if tp.partition == at.partition:
                await self.consumer.seek(tp, offset)

    async def _assigned(self, *sent: Any, **_: Any) -> None:
        # the sender comes first
        assigned: set[TP] = sent[-1]
        partitions = [TopicPartition(OBSERVATIONS, tp.partition) for tp in sorted(assigned)]
        await self.host.assigned(partitions, self.consumer_generation_id)

    async def _revoked(self, *_sent: Any, **_: Any) -> None:
        # all of them, whatever is named: Faust hands everything back, and is then told what it has
        await self.host.revoked()

    async def _watch_host(self) -> None:
        error = await self.host.failure()
        if error is not None:
            await self.crash(error)


def _key(raw: bytes | None) -> str:
    """As the engine's own readers have it: what is no text names no case."""
    try:
        return "" if raw is None else raw.decode()
    except UnicodeDecodeError:
        return ""
