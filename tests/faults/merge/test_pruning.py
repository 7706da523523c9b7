"""Old versions leave the store and are read back from the tape: nothing that can be asked of a case changes by it (I2).

Field reports, second table, rows 7 and 8."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import NewRecord, TopicPartition
from engines.partitioner import partition_of
from engines.sqlite import FILE, open_engine
from engines.topics import STATES, VERSIONS
from merge.history import history, state_at
from merge.merger import Merger
from merge.policies.registry import WORST
from merge.pruning import SPARSE, prune
from merge.reading import load_summary, whole
from merge.reassess import reassess
from merge.verify import verify
from schemas.errors import EngineError, UnknownVersion
from schemas.version import StateVersion
from tests import factories
from tests.faults.merge import pruner
from tests.faults.merge.homes import PARTITIONS, batch, made, merge
from tests.faults.merge.long import CASE, KEEP, LENGTH, OTHER, PRUNED, copied, said


@pytest.mark.parametrize("keep", [1, KEEP, 600])
def test_nothing_that_can_be_asked_changes(engine: Engine, keep: int) -> None:
    before = said(engine)
    report = verify(engine.store, engine.log)
    gone = pruner.all_of(engine, keep)
    assert gone == (LENGTH - keep) // 64 * 64
    assert [one.number for one in engine.store.versions(CASE, 0, 9999)] == list(range(gone + 1, LENGTH + 1))
    after = said(engine)
    for asked, answer in before.items():
        assert after[asked] == answer, asked
    again = verify(engine.store, engine.log)
    assert (again.faults, again.versions, again.contents) == ((), report.versions, report.contents)
    assert (report.pruned, again.pruned) == (0, gone)


def test_what_stays_is_bounded(pruned_home: Path, engine: Engine) -> None:
    """Row 8: the newest, what is current, and a snapshot in every 256 versions."""
    with open_engine(pruned_home) as pruned:
        store = pruned.store
        sizes = store.sizes()
        few = engine.store.row(f"{factories.TENANT}/{OTHER}")
        assert few is not None
        assert (sizes.versions.count, sizes.pruned) == (LENGTH - PRUNED + few.number, PRUNED)
        assert sizes.remains.count == 10, "ten fingerprints are current"
        assert (sizes.contents, engine.store.sizes().contents) == (2 * (LENGTH + few.number), sizes.contents)
        below, found = PRUNED, []
        while (snapshot := store.snapshot(CASE, below)) is not None:
            found.append(snapshot.number)
            below = snapshot.number - 1
        assert found == [640, 512, 256]
        assert sizes.versions.bytes < engine.store.sizes().versions.bytes / 5


def test_only_the_store_is_asked_for_what_it_has(pruned_home: Path) -> None:
    """No log is needed for anything that a merger reads."""
    with open_engine(pruned_home) as engine:
        for number in (PRUNED, PRUNED + 1, LENGTH):
            assert load_summary(engine.store, CASE, number) == load_summary(engine.store, CASE, number, log=engine.log)
        with pytest.raises(UnknownVersion, match="is not kept in the store"):
            state_at(engine.store, CASE)
        with pytest.raises((EngineError, UnknownVersion)):
            load_summary(engine.store, CASE, 300)


def test_late_repeats_add_nothing_and_work_goes_on(home: Path, long_case: tuple[Path, list[StateVersion]]) -> None:
    """I4: `known` stays exact, whatever left the store."""
    with open_engine(home) as engine:
        pruner.all_of(engine, 1)
        head = engine.store.heads([CASE])
        merger = Merger(engine.log, engine.store)
        merger.handle(batch(long_case[1]))
        merger.handle(batch([long_case[1][5], long_case[1][699]]))
        assert engine.store.heads([CASE]) == head
        assert (merger.stats.versions, merger.stats.nothing_new) == (0, LENGTH + 2)
        mixed = factories.branch(factories.analysis(77), factories.observation(3), parent=head[CASE].id)
        engine.log.append(VERSIONS, factories.appended(mixed))
        merge(engine, merger)
        (version,) = whole(engine.store, CASE, LENGTH + 1, LENGTH + 1)
        assert (version.header.inputs, len(version.header.analyses)) == ((), 1), "the observation came with version 4"
        reassess(engine.store, engine.log, CASE, WORST, person="alice", now=factories.START)
        assert verify(engine.store, engine.log).faults == ()


def test_pruning_goes_on_as_the_case_does(tmp_path: Path) -> None:
    """Row 7: ten times the length is ten times the tape, and the same store but for ids and places."""
    sizes = {}
    for length in (130, 1_300):
        home = made(tmp_path / str(length))
        with open_engine(home) as engine:
            merger = Merger(engine.log, engine.store, now=lambda: factories.START)
            for n in range(length):
                merger.handle(batch([factories.branch(factories.analysis(n % 10, at=factories.START + n, score=n))]))
                if n % 50 == 0:
                    pruner.all_of(engine, 50)
            pruner.all_of(engine, 50)
            sizes[length] = engine.store.sizes(), sum(engine.log.stored_bytes(STATES).values())
            assert len(list(history(engine.store, CASE, log=engine.log))) == length
    (short, tape), (long, longer) = sizes[130], sizes[1_300]
    assert 8 < longer / tape < 12
    assert long.contents == 10 * short.contents
    assert short.versions.count <= 114 >= long.versions.count
    assert long.versions.bytes + long.remains.bytes < 2 * (short.versions.bytes + short.remains.bytes)
    assert long.snapshots.count <= 3 + 1_300 // SPARSE


def test_a_home_whose_places_were_never_noted(home: Path) -> None:
    """As one of an earlier casetape: they are searched for, once, and noted."""
    with closing(sqlite3.connect(home / FILE)) as database, database:
        database.execute("DELETE FROM places")
    with open_engine(home) as engine:
        before = said(engine)
        assert pruner.all_of(engine, KEEP) == PRUNED
        assert set(engine.store.places(CASE, range(LENGTH + 1))) == set(range(1, PRUNED + 1))
        assert said(engine) == before
        assert verify(engine.store, engine.log).faults == ()


def test_places_that_are_wrong_cost_a_search_and_are_told(pruned_home: Path, tmp_path: Path, engine: Engine) -> None:
    home = copied(pruned_home, tmp_path / "wrong")
    with closing(sqlite3.connect(home / FILE)) as database, database:
        database.execute("UPDATE places SET tape_offset = tape_offset + 1 WHERE number > 1")
    with open_engine(home) as wrong:
        assert said(wrong) == said(engine)
        whats = {fault.what.partition(" at offset")[0] for fault in verify(wrong.store, wrong.log).faults}
        assert whats == {"the store says that it lies"}


def _refused(engine: Engine) -> str | None:
    before = engine.store.versions(CASE, 0, 9999)
    done = prune(engine.store, engine.log, CASE, KEEP)
    assert (done.versions, engine.store.versions(CASE, 0, 9999)) == (0, before)
    return done.refused


def test_what_is_not_on_the_tape_stays(engine: Engine) -> None:
    """I2: `states` was trimmed, so the store alone has these."""
    at = TopicPartition(STATES, partition_of(CASE, PARTITIONS))
    engine.log.trim(at, 5)
    assert _refused(engine) == "version 1 is not in `states`"


def test_what_is_otherwise_on_the_tape_stays(home: Path) -> None:
    with closing(sqlite3.connect(home / FILE)) as database, database:
        database.execute(
            "UPDATE versions SET record_codec = o.record_codec, record = o.record FROM versions o"
            " WHERE versions.number = 7 AND o.number = 8 AND o.case_id = versions.case_id"
        )
    with open_engine(home) as engine:
        assert _refused(engine) == "version 7 is not the same in the store and in `states`"


def test_what_is_current_and_lost_is_told(tmp_path: Path) -> None:
    """What nothing supersedes stays in the store however long ago it came; where it was lost, no more goes."""
    with open_engine(made(tmp_path)) as engine:
        merger = Merger(engine.log, engine.store)
        for n in range(200):
            merger.handle(batch([factories.branch(factories.analysis(99 if n == 5 else n % 3, score=n))]))
        assert prune(engine.store, engine.log, CASE, 130).versions == 64
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("DELETE FROM remains")
    with open_engine(tmp_path) as engine:
        done = prune(engine.store, engine.log, CASE, 1)
        assert done.versions == 0
        assert done.refused is not None
        assert done.refused.endswith("which is current at version 192, is missing in the store")


def test_what_has_not_been_published_stays(home: Path) -> None:
    with closing(sqlite3.connect(home / FILE)) as database, database:
        database.execute("UPDATE cases SET published = 300")
    with open_engine(home) as engine:
        assert pruner.all_of(engine, KEEP) == 256
        assert engine.store.pruned([CASE]) == {CASE: 256}


def test_what_is_kept_nowhere_is_a_fault(pruned_home: Path, tmp_path: Path) -> None:
    """Whoever cuts `states` below what the store let go of has lost it, and is told: it is no mere retention."""
    home = copied(pruned_home, tmp_path / "cut")
    with open_engine(home) as engine:
        engine.log.trim(TopicPartition(STATES, partition_of(CASE, PARTITIONS)), 20)
        report = verify(engine.store, engine.log, CASE)
        assert "the version is kept neither in the store nor in `states`" in {fault.what for fault in report.faults}
        assert report.trimmed == {STATES: 20}
        with pytest.raises(UnknownVersion, match=r"version 1 of .* is not kept in the store or on the tape"):
            state_at(engine.store, CASE, 5, engine.log)
        assert load_summary(engine.store, CASE, LENGTH, log=engine.log).number == LENGTH


def test_a_bad_record_beside_does_not_stop_it(home: Path) -> None:
    """What else lies in `states` under the case's key is no version, and is looked past."""
    with closing(sqlite3.connect(home / FILE)) as database, database:
        database.execute("DELETE FROM places")
    with open_engine(home) as engine:
        engine.log.append(STATES, [NewRecord(CASE, b"no version")])
        assert pruner.all_of(engine, KEEP) == PRUNED
