"""A worker that goes round, sends its signs of life, and reads nothing of one partition: `python -m` as a child."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from casetape.services import worker
from engines.engine import Engine
from engines.log import Consumer, TopicPartition
from engines.service import Service
from workers.runtime.child import main

STALLED = 0


class _Pausing:
    """The worker, but for what it does with its partitions."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self._service.assigned(consumer, partitions)
        consumer.pause([at for at in partitions if at.partition == STALLED])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)


def make(engine: Engine, options: Mapping[str, Any]) -> Service:
    """The worker that these options describe, pausing."""
    pausing: Any = _Pausing(worker.make(engine, options))
    made: Service = pausing
    return made


if __name__ == "__main__":
    sys.exit(main(make))
