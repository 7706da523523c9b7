"""Runs the application in this process until it is told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Protocol

from aiokafka import errors as kafka_errors  # type: ignore[import-untyped]  # it ships no types

from engines.log import TopicPartition
from schemas.errors import AccessDenied, EngineUnavailable
from workers.asynchronous.application import Application

LOOK_SECONDS = 0.1
STOP_SECONDS = 15.0
"""What has not stopped by then is left to the end of the process."""
_REFUSED = (
    kafka_errors.AuthenticationFailedError,
    kafka_errors.AuthenticationMethodNotSupported,
    kafka_errors.ClusterAuthorizationFailedError,
    kafka_errors.GroupAuthorizationFailedError,
    kafka_errors.SaslAuthenticationFailed,
    kafka_errors.TopicAuthorizationFailedError,
    kafka_errors.UnsupportedSaslMechanismError,
)


class Orders(Protocol):
    """What the process is told from outside, and tells."""

    def stopped(self) -> bool:
        """Whether to finish and leave."""
        ...

    def pulse(self, owned: Collection[TopicPartition]) -> None:
        """Is told, often, that the loop goes round, and which partitions are owned."""
        ...


def serve(application: Application, orders: Orders, on_ready: Callable[[], None]) -> None:
    """Runs it until it is told to stop; then it finishes what it can, saves it and leaves. `on_ready` is called once it
    knows which partitions it has. Raises what ended it: EngineUnavailable where Kafka or the store is away. The process
    ends after it: plug-ins may have left tasks behind."""
    # not asyncio.run, which at its end waits for every task: a plug-in's may refuse to end
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(_serve(application, orders, on_ready))


async def _serve(application: Application, orders: Orders, on_ready: Callable[[], None]) -> None:
    application.finalize()
    starting = asyncio.create_task(application.start())
    try:
        await _until_stopped(application, starting, orders, on_ready)
    finally:
        await _stop(application, starting)
    _raise_failure(application, starting)


async def _until_stopped(
    application: Application, starting: asyncio.Task[Any], orders: Orders, on_ready: Callable[[], None]
) -> None:
    host, ready = application.host, False
    owned: Collection[TopicPartition] = ()
    while not orders.stopped():
        _raise_failure(application, starting)
        if host.joined:
            owned = host.owned
            if not ready:
                on_ready()
            ready = True
        if ready:
            orders.pulse(owned)
        await asyncio.sleep(LOOK_SECONDS)


async def _stop(application: Application, starting: asyncio.Task[Any]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await application.stop()
    starting.cancel()
    await asyncio.wait({starting}, timeout=1.0)


def _raise_failure(application: Application, starting: asyncio.Task[Any]) -> None:
    if application.host.error is not None:
        raise translated(application.host.error)
    if application.crash_reason is not None:
        raise translated(application.crash_reason)
    if starting.done() and not starting.cancelled() and (error := starting.exception()) is not None:
        raise translated(error)


def translated(error: BaseException) -> BaseException:
    """What an error of Faust or its client means to casetape; others are their own."""
    name = type(error).__name__
    if isinstance(error, _REFUSED):
        return AccessDenied(
            f"Kafka refuses the user of the asynchronous worker ({name}): check `kafka.user`, `kafka.password`,"
            " `kafka.mechanism` and the user's rights to read the topic and to join the group"
        )
    if isinstance(error, kafka_errors.KafkaError | OSError | TimeoutError):
        return EngineUnavailable(f"the asynchronous worker lost Kafka ({name}); it reads on once Kafka answers again")
    return error
