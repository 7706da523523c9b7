"""Retention never takes what somebody has still to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.log import NewRecord, TopicPartition
from engines.retention import trim_older
from engines.sqlite import open_engine
from engines.topics import OBSERVATIONS

AT = TopicPartition(OBSERVATIONS, 0)
SECOND = 1_000_000


@pytest.mark.parametrize(
    ("before", "handled", "left"),
    [(0, 50, 50), (10, 50, 40), (25, 50, 25), (25, 7, 43), (25, None, 50), (1_000, 50, 0), (1_000, 49, 1)],
)
def test_by_time_and_by_what_is_handled(tmp_path: Path, before: int, handled: int | None, left: int) -> None:
    """Fifty records, one a second; `before` in seconds."""
    seconds = 0.0
    with open_engine(tmp_path, clock=lambda: seconds) as engine:
        engine.log.create_topic(OBSERVATIONS, 1)
        for number in range(50):
            seconds = float(number)
            engine.log.append(OBSERVATIONS, [NewRecord("default/a", b"%d" % number)])
        if handled is not None:
            consumer = engine.log.consumer("reader", [OBSERVATIONS])
            consumer.poll(1, 1.0)
            consumer.commit({AT: handled})
            consumer.close()
        trim_older(engine.log, OBSERVATIONS, before * SECOND, ["reader"])
        kept = engine.log.read(AT, 0, 100)
        assert len(kept) == left
        assert [one.value for one in kept] == [b"%d" % number for number in range(50 - left, 50)]
