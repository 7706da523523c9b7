"""A merger in a process of its own: merges until its group has handled all of `versions`, then ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from engines.log import TopicPartition, lag
from engines.topics import VERSIONS
from merge.merger import Merger
from tests.engine import open_home


def main(home: Path, limit: int) -> None:
    with open_home(home, session_seconds=0.5) as engine:
        merger = Merger(engine.log, engine.store)

        def assigned(partitions: Sequence[TopicPartition]) -> None:
            merger.assigned(consumer, partitions)

        consumer = engine.log.consumer(merger.group, merger.topics, on_assign=assigned)
        while sum(lag(engine.log, merger.group, VERSIONS).values()) or not consumer.assignment():
            batches = consumer.poll(limit, 0.05)
            consumer.commit(merger.handle(batches) if batches else merger.idle())
        consumer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
