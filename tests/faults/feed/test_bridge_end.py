"""A bridge waits for what may pass, raises what does not, and knows when it has come to the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from casetape.bridging import Bridged, Bridging, End, bridge
from casetape.settings import Settings
from engines.engine import Engine
from engines.log import LogRecord, NewRecord, TopicPartition
from engines.topics import OBSERVATIONS
from schemas.errors import EngineError, EngineUnavailable
from tests.faults.feed.bridging import conn
from tests.faults.feed.feeding import engine, records
from workers.feed.options import FeedCounts, FeedOptions


class Flaky:
    """A log that fails so often to append observations before it does."""

    def __init__(self, log: Any, *failures: EngineError) -> None:
        self._log = log
        self._failures = list(failures)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, topic: str, some: Sequence[NewRecord]) -> None:
        if topic == OBSERVATIONS and self._failures:
            raise self._failures.pop(0)
        self._log.append(topic, some)


def bridged(home: Path, *failures: EngineError, until_end: bool) -> tuple[Bridged, list[float], list[str]]:
    """What came of 100 records, the pauses and what was said; it is told to stop once all are on the tape."""
    pauses: list[float] = []
    said: list[str] = []
    with engine(home) as opened:
        opened.log.create_topic("theirs", 2)
        opened.log.append("theirs", [NewRecord(str(at), conn(at)) for at in range(100)])

        def wait(seconds: float) -> bool:
            if seconds:
                pauses.append(seconds)
            return not until_end and len(records(opened, OBSERVATIONS)) == 100

        flaky: Any = Flaky(opened.log, *failures)
        asked = Bridging("theirs", FeedOptions(kind="zeek"), until_end, wait, said.append, lambda counts: None)
        done = bridge(Settings(home=home), Engine(flaky, opened.store), asked)
        assert len(records(opened, OBSERVATIONS)) == 100
    return done, pauses, said


def test_what_may_pass_is_told_and_waited_for(tmp_path: Path) -> None:
    busy = EngineUnavailable("the broker is busy.")
    done, pauses, said = bridged(tmp_path, busy, busy, busy, until_end=False)
    assert done == Bridged(FeedCounts(read=100, appended=100), True)
    assert pauses == [1.0, 2.0, 4.0]
    assert said[1:] == [f"the broker is busy. It is tried again in {pause} s." for pause in (1, 2, 4)]


@pytest.mark.parametrize("until_end", [False, True])
def test_what_does_not_pass_is_raised_and_so_is_all_where_there_is_an_end(tmp_path: Path, until_end: bool) -> None:
    failure = EngineUnavailable("busy") if until_end else EngineError("damaged")
    with pytest.raises(EngineError, match=str(failure)):
        bridged(tmp_path, failure, until_end=until_end)
    done, _, _ = bridged(tmp_path / "other", until_end=True)
    assert done == Bridged(FeedCounts(read=100, appended=100), True)


def test_stopped_before_the_end_is_not_ended(tmp_path: Path) -> None:
    with engine(tmp_path) as opened:
        opened.log.create_topic("theirs", 1)
        opened.log.append("theirs", [NewRecord("a", conn(0))])
        options = FeedOptions(kind="zeek")
        asked = Bridging("theirs", options, True, lambda seconds: True, lambda said: None, lambda counts: None)
        assert bridge(Settings(home=tmp_path), opened, asked) == Bridged(FeedCounts(), False)


class Ended:
    """A log whose partition 1 ends in offsets that hold no record."""

    committed_to: Mapping[int, int] = {}

    def start_offsets(self, topic: str) -> Mapping[int, int]:
        return {0: 5, 1: 0, 2: 0}

    def end_offsets(self, topic: str) -> Mapping[int, int]:
        return {0: 5, 1: 4, 2: 2}

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        return self.committed_to

    def read(self, at: TopicPartition, start: int, limit: int) -> Sequence[LogRecord]:
        # after what is to be waited for, others have come already
        last = {1: 3, 2: 3}[at.partition]
        offsets = [offset for offset in (0, 1, 2, 7) if offset >= start and (offset < last or at.partition == 2)]
        return [LogRecord(offset, "", b"", 0) for offset in offsets[:limit]]


def test_an_end_without_records_before_it_is_reached() -> None:
    log: Any = Ended()
    end = End(log, "g", "t")
    assert not end.look(quiet=True)
    log.committed_to = {1: 3, 2: 1}
    assert not end.look(quiet=False)
    assert not end.look(quiet=True)
    log.committed_to = {1: 3, 2: 2}
    assert end.look(quiet=False)
    assert end.reached
