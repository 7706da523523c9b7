"""The client of a member: its settings as they follow from the session."""

from __future__ import annotations

import re
from typing import Any

from kafka import KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from engines.kafka.connection import Connection

_BEATS_A_SESSION = 4
_LONGEST_BEAT_SECONDS = 0.3
"""A member hears of changes of its group by heartbeats only, so that their distance is what a handover takes."""
_FETCH_BYTES = 1024 * 1024
_FETCH_WAIT_MS = 100
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]")


def join(connection: Connection, group: str, session_seconds: float) -> KafkaConsumer:
    """A client that is about to join the group; it does so as soon as it polls."""
    options = connection.options
    beat = min(_LONGEST_BEAT_SECONDS, session_seconds / _BEATS_A_SESSION)
    assignor = CooperativeStickyAssignor if options.cooperative else StickyPartitionAssignor
    return connection.opened(
        lambda: KafkaConsumer(
            **connection.settings(),
            group_id=group,
            group_instance_id=_NO_NAME.sub("_", f"{options.member}-{group}")[-249:] if options.member else None,
            session_timeout_ms=int(session_seconds * 1_000),
            heartbeat_interval_ms=int(beat * 1_000),
            max_poll_interval_ms=int(max(options.poll_seconds, session_seconds) * 1_000),
            partition_assignment_strategy=(assignor,),
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            allow_auto_create_topics=False,
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            metrics_enabled=False,
        )
    )


class _Answer:
    """A join under way, or answered. The client (3.0) takes one that was answered between two polls for none, and joins
    again: where a process does anything else than poll, a group would never settle."""

    def __init__(self, task: Any) -> None:
        self._task = task

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to be had of it any more."""
        return bool(self._task.failed())

    def add_callback(self, *what: Any) -> Any:
        return self._task.add_callback(*what)

    def add_errback(self, *what: Any) -> Any:
        return self._task.add_errback(*what)

    def __await__(self) -> Any:
        return self._task.__await__()


def keep_answer(client: KafkaConsumer) -> None:
    """Has the client use the answer to a join that it began and did not wait for; to be called after each poll."""
    task = client._coordinator._join_task
    if task is not None and not isinstance(task, _Answer):
        client._coordinator._join_task = _Answer(task)
