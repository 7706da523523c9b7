"""What verification makes of a home in which work is still to do: what waits is no damage, and costs no more to see."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from engines.engine import Engine
from engines.log import EventLog, LogRecord, NewRecord, TopicPartition
from engines.partitioner import partition_of
from engines.sqlite import FILE, open_engine
from engines.sqlite.ids import pack_id
from engines.topics import QUARANTINE, STATES, VERSIONS
from merge.merger import Merger
from merge.verify import verify
from tests import factories
from tests.faults.merge.homes import PARTITIONS, in_quarantine, made, merge

NEW = "host:brand-new"
NEW_CASE = f"{factories.TENANT}/{NEW}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One case of two versions, published; a branch version of another case lies on the tape, not yet merged."""
    home = made(tmp_path / "home")
    with open_engine(home) as engine:
        for n in range(2):
            engine.log.append(VERSIONS, factories.appended(factories.finding(n)))
            merge(engine, Merger(engine.log, engine.store))
        engine.log.append(VERSIONS, factories.appended(factories.finding(3, subject=NEW)))
    return home


def changed(home: Path, statement: str, values: Sequence[object] = ()) -> None:
    with closing(sqlite3.connect(home / FILE)) as database:
        assert database.execute(statement, values).rowcount > 0
        database.commit()


def test_a_branch_of_a_new_case_that_waits_is_no_fault(home: Path) -> None:
    with open_engine(home) as engine:
        report = verify(engine.store, engine.log)
        assert (report.faults, report.cases, report.versions) == ((), 1, 2)
        alone = verify(engine.store, engine.log, NEW_CASE)
        assert (alone.faults, alone.cases) == ((), 0)
        merge(engine, Merger(engine.log, engine.store))
        report = verify(engine.store, engine.log)
        assert (report.faults, report.cases, report.versions) == ((), 2, 3)


def _forget_new_case(home: Path) -> None:
    for table in ("versions", "content_index"):
        changed(home, f"DELETE FROM {table} WHERE case_id = (SELECT id FROM cases WHERE key = ?)", (NEW_CASE,))  # noqa: S608 - a constant
    changed(home, "DELETE FROM cases WHERE key = ?", (NEW_CASE,))


def _forget_states(home: Path) -> None:
    where = "topic_id = (SELECT id FROM topics WHERE name = 'states') AND partition = ?"
    partition = partition_of(NEW_CASE, PARTITIONS)
    changed(home, f"DELETE FROM batches WHERE {where}", (partition,))  # noqa: S608 - a constant
    changed(home, f"UPDATE partitions SET next_offset = 0 WHERE {where}", (partition,))  # noqa: S608 - a constant


@pytest.mark.parametrize("states", [True, False])
def test_a_case_that_was_merged_and_is_gone_from_the_store_is_one(tmp_path: Path, states: bool) -> None:
    home = made(tmp_path / "one", [factories.finding(3, subject=NEW)])
    with open_engine(home) as engine:
        merge(engine, Merger(engine.log, engine.store))
    _forget_new_case(home)
    if not states:
        _forget_states(home)
    with open_engine(home) as engine:
        faults = verify(engine.store, engine.log).faults
    assert (NEW_CASE, None, "the tape knows the case, and the store does not") in faults


class _Counted:
    """A log that counts the records read of each topic."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.read_of: Counter[str] = Counter()

    def read(self, at: TopicPartition, start: int, limit: int) -> Sequence[LogRecord]:
        records = self._log.read(at, start, limit)
        self.read_of[at.topic] += len(records)
        return records

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def _bad(engine: Engine, count: int) -> None:
    engine.log.append(VERSIONS, [NewRecord(factories.CASE, b"{}")] * count)
    merge(engine, Merger(engine.log, engine.store))


def test_quarantine_is_read_once_however_many_bad_records_there_are(home: Path) -> None:
    with open_engine(home) as engine:
        _bad(engine, 300)
        log = _Counted(engine.log)
        assert verify(engine.store, cast(EventLog, log)).ok
        assert log.read_of[QUARANTINE] == 300


def test_a_bad_record_that_is_not_in_quarantine_is_a_fault(home: Path) -> None:
    with open_engine(home) as engine:
        _bad(engine, 3)
        at = TopicPartition(VERSIONS, partition_of(factories.CASE, PARTITIONS))
        last = engine.log.end_offsets(VERSIONS)[at.partition] - 1
    topic = "(SELECT id FROM topics WHERE name = 'quarantine')"
    changed(home, f"DELETE FROM batches WHERE topic_id = {topic}")  # noqa: S608 - a constant
    changed(home, f"UPDATE partitions SET next_offset = 0 WHERE topic_id = {topic}")  # noqa: S608 - a constant
    with open_engine(home) as engine:
        whats = [one.what for one in verify(engine.store, engine.log).faults]
    assert len(whats) == 3
    assert whats[-1].startswith(f"versions[{at.partition}] offset {last}: ")
    assert whats[-1].endswith(", and it was not quarantined")


def test_a_damaged_quarantine_is_a_fault_and_the_rest_is_read(home: Path) -> None:
    with open_engine(home) as engine:
        _bad(engine, 1)
        engine.log.append(QUARANTINE, [NewRecord(factories.TENANT, b"no record")])
        (fault,) = verify(engine.store, engine.log).faults
        assert fault.what.startswith("quarantine[")
        assert "not a valid Quarantined record" in fault.what


def test_a_forged_branch_is_quarantined_and_stays_no_part_of_the_case(home: Path) -> None:
    forged = factories.finding(9, at=4_000_000_000_000_000)
    good = factories.finding(8)
    with open_engine(home) as engine:
        engine.log.append(VERSIONS, factories.appended(forged, good))
        merge(engine, Merger(engine.log, engine.store))
        (kept,) = in_quarantine(engine)
        assert "an analysis's `at` lies more than a day after the record was appended" in kept.reason
        assert kept.data == forged.encode()
        assert not engine.store.known(factories.CASE, [one.id for one in forged.contents])
        assert engine.store.known(factories.CASE, [one.id for one in good.contents])
        assert verify(engine.store, engine.log).ok


@pytest.mark.parametrize("number", [1, 2, 7])
def test_a_content_that_is_only_in_the_index_is_found(home: Path, number: int) -> None:
    """A merger would take it for known, and leave the next branch's content out."""
    waiting = factories.finding(5)
    with open_engine(home) as engine:
        engine.log.append(VERSIONS, factories.appended(waiting))
        assert verify(engine.store, engine.log).ok
    changed(
        home,
        "INSERT INTO content_index SELECT id, ?, ? FROM cases WHERE key = ?",
        (pack_id(waiting.contents[0].id), number, factories.CASE),
    )
    with open_engine(home) as engine:
        (fault,) = verify(engine.store, engine.log).faults
    assert fault == (factories.CASE, number, "the store says that it has 1 contents that no version brought")


def test_what_was_trimmed_is_noted_and_no_fault(home: Path) -> None:
    with open_engine(home) as engine:
        merge(engine, Merger(engine.log, engine.store))
        assert verify(engine.store, engine.log).trimmed == {}
        partition = partition_of(factories.CASE, PARTITIONS)
        engine.log.trim(TopicPartition(STATES, partition), 1)
        engine.log.trim(TopicPartition(VERSIONS, partition), 2)
        report = verify(engine.store, engine.log)
        assert (report.faults, report.trimmed) == ((), {STATES: 1, VERSIONS: 2})
        other = "host:10.0.0.6"
        assert partition_of(f"{factories.TENANT}/{other}", PARTITIONS) != partition
        engine.log.append(VERSIONS, factories.appended(factories.finding(4, subject=other)))
        merge(engine, Merger(engine.log, engine.store))
        assert verify(engine.store, engine.log, f"{factories.TENANT}/{other}").trimmed == {}


@pytest.mark.parametrize("merged", [2, 0])
def test_branches_cut_before_a_merger_handled_them_are_a_fault(tmp_path: Path, merged: int) -> None:
    """I2, I7: retention never goes beyond what is handled, so that a beginning further on proves a cut."""
    home, other = made(tmp_path), f"{factories.TENANT}/host:10.0.0.6"
    at = TopicPartition(VERSIONS, partition_of(factories.CASE, PARTITIONS))
    assert partition_of(other, PARTITIONS) != at.partition
    with open_engine(home) as engine:
        engine.log.append(VERSIONS, factories.appended(factories.finding(0, subject="host:10.0.0.6")))
        engine.log.append(VERSIONS, factories.appended(*map(factories.finding, range(merged))))
        if merged:
            merge(engine, Merger(engine.log, engine.store))
        engine.log.append(VERSIONS, factories.appended(factories.finding(3)))
        engine.log.trim(at, merged)
        assert verify(engine.store, engine.log).ok
    topic = "(SELECT id FROM topics WHERE name = 'versions')"
    where = f"topic_id = {topic} AND partition = ?"
    changed(home, f"DELETE FROM batches WHERE {where}", [at.partition])  # noqa: S608 - a constant
    changed(home, f"UPDATE partitions SET start_offset = next_offset WHERE {where}", [at.partition])  # noqa: S608 - a constant
    with open_engine(home) as engine:
        (fault,) = verify(engine.store, engine.log).faults
        said = f"versions[{at.partition}] offset {merged} up to {merged + 1} was cut, and no merger had handled it"
        assert fault == ("", None, said)
        assert verify(engine.store, engine.log, other).ok
