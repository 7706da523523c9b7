"""One poll of the client, without the busy loop it falls into."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafka import KafkaConsumer
from kafka.structs import TopicPartition as KafkaPartition

_OVERDUE_SECONDS = 0.02


def fetched(client: KafkaConsumer, seconds: float, most: int) -> Mapping[KafkaPartition, Sequence[Any]]:
    """By partition: at most so many records, waiting up to `seconds` for the first. Raises what the client raises."""
    # with a heartbeat overdue, the client's own wait is a busy loop that leaves a future behind at every turn
    overdue = client._coordinator.time_to_next_poll() <= 0
    found: Mapping[KafkaPartition, Sequence[Any]]
    found = client.poll(timeout_ms=0 if overdue else seconds * 1_000, max_records=most)
    if overdue and not found:
        time.sleep(min(seconds, _OVERDUE_SECONDS))
    return found
