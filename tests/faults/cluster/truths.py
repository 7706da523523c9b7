"""What must hold of a cluster whatever happened to it: every finding once, one line per case, counts that close."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engines.engine import Engine
from engines.log import TopicPartition, lag
from engines.topics import OBSERVATIONS, QUARANTINE, STATES, VERSIONS
from merge.history import state_at
from merge.tape import MERGER, records
from merge.verify import verify
from schemas.version import StateVersion
from workers.detection.snapshot import Counts, counts_of

GROUP = "detect-each"


def settled(engine: Engine) -> bool:
    """Whether everything is handled, merged and published."""
    ends = engine.log.end_offsets(OBSERVATIONS)
    saved = {int(name.rpartition("/")[2]): one.offset for name, one in manifests(engine).items()}
    looked = all(saved.get(partition, 0) >= end for partition, end in ends.items() if end)
    return looked and not any(lag(engine.log, MERGER, VERSIONS).values()) and not engine.store.unpublished(1)


def manifests(engine: Engine, group: str = GROUP) -> dict[str, Any]:
    """The manifests of a group's workers."""
    return dict(engine.store.manifests(f"detect/{group}/"))


def counts(engine: Engine, group: str = GROUP) -> Counts:
    """What they counted, over all partitions."""
    total = Counts()
    for manifest in manifests(engine, group).values():
        counted, _ = counts_of(manifest)
        for name in Counts.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(counted, name))
    return total


def findings(engine: Engine) -> Counter[str]:
    """How often each finding stands in the cases, by fingerprint."""
    found: Counter[str] = Counter()
    for row in engine.store.cases(None, order="key"):
        found.update(one.fingerprint for one in state_at(engine.store, row.key, log=engine.log).analyses.values())
    return found


def holds(engine: Engine, count: int, *, quarantined: int = 0) -> None:
    """Every finding of records 0..count - 1 once, one line per case without gap or fork, closing counts."""
    found = findings(engine)
    assert set(found) == {f"each C{number:06}" for number in range(count)}
    assert set(found.values()) == {1}
    counted = counts(engine)
    assert counted.consumed == counted.new + counted.duplicate + counted.quarantined
    assert (counted.new, counted.quarantined) == (count, quarantined)
    assert sum(engine.log.end_offsets(OBSERVATIONS).values()) == counted.consumed
    lines_of(engine)
    report = verify(engine.store, engine.log)
    assert (report.faults, report.unpublished) == ((), 0)


def lines_of(engine: Engine) -> dict[str, list[str]]:
    """By case: the ids of its line in `states`. Repeats must repeat, and nothing may be left out."""
    seen: dict[str, dict[int, str]] = {}
    for partition, end in engine.log.end_offsets(STATES).items():
        for record in records(engine.log, TopicPartition(STATES, partition), end):
            version = StateVersion.parse(record.value)
            line = seen.setdefault(record.key, {})
            assert line.setdefault(version.number, version.id) == version.id, f"a fork of {record.key}"
            assert version.number <= len(line), f"a gap in {record.key}"
    for case, line in seen.items():
        assert sorted(line) == list(range(1, len(line) + 1))
        assert engine.store.heads([case])[case].number == len(line)
    return {case: [line[number] for number in sorted(line)] for case, line in seen.items()}


def quarantine(engine: Engine) -> int:
    """How many records lie in quarantine."""
    return sum(engine.log.end_offsets(QUARANTINE).values())
