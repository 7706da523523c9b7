"""Pruning where things go wrong: edits and cuts in a pruned home are found, kills change nothing, and neither do others
who are at work (I2, I5, I7).

Field reports, second table, row 2."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engines.sqlite import FILE, open_engine
from merge.history import state_at
from merge.merger import Merger
from merge.reading import load_summary
from merge.verify import verify
from schemas.version import StateVersion
from tests import factories
from tests.faults.merge.edits import change, edited, rows_of, some_of
from tests.faults.merge.homes import finished, killed, made, merge, outcomes, published, start
from tests.faults.merge.long import KEEP, line

COLUMNS = [
    *(f"cases.{one}" for one in ("key", "number", "version_id", "pruned", "id", "analyses")),
    *(f"versions.{one}" for one in ("case_id", "number", "version_id", "record_codec", "record", "contents")),
    *(f"content_index.{one}" for one in ("case_id", "content_id", "number")),
    *(f"remains.{one}" for one in ("case_id", "content_id", "codec", "body")),
    *(f"snapshots.{one}" for one in ("number", "codec", "body")),
    *(f"batches.{one}" for one in ("topic_id", "partition", "base_offset", "count", "codec", "body")),
    *("partitions.next_offset", "places.tape_offset"),
]


@pytest.mark.parametrize("column", COLUMNS)
def test_any_column_that_is_edited_is_found(pruned_home: Path, tmp_path: Path, column: str) -> None:
    """Pruned and on the tape is one thing, an edit is another."""
    table, name = column.split(".")
    with closing(sqlite3.connect(pruned_home / FILE)) as database:
        rows = rows_of(database, table)
    for rowid, value in some_of([(where, row[name]) for where, row in rows.items()]):
        report = edited(pruned_home, tmp_path, lambda db, w=rowid, v=value: change(db, table, name, w, v))  # type: ignore[misc] # bound now
        assert not report.ok, f"{column} where {rowid}"


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM versions WHERE number = 670",
        "DELETE FROM versions WHERE number = 641",
        "DELETE FROM remains WHERE rowid = (SELECT max(rowid) FROM remains)",
        "DELETE FROM content_index WHERE number = 30",
        "DELETE FROM snapshots WHERE number = 640",
        "DELETE FROM batches WHERE topic_id = (SELECT id FROM topics WHERE name = 'states') AND base_offset = 77",
        "UPDATE cases SET pruned = 0",
        "UPDATE cases SET pruned = 639 WHERE pruned > 0",
        "UPDATE cases SET pruned = 641 WHERE pruned > 0",
        "UPDATE cases SET pruned = number",
        "UPDATE cases SET published = 600",
    ],
)
def test_any_cut_is_found(pruned_home: Path, tmp_path: Path, edit: str) -> None:
    report = edited(pruned_home, tmp_path, lambda database: database.execute(edit))
    assert not report.ok


POINTS = ["keeper.compared", "store.pruning", "keeper.pruned"]


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_fail_point_changes_nothing(home: Path, pruned_home: Path, point: str, passes: int) -> None:
    with open_engine(home) as engine:
        before = line(engine)
    killed(start("pruner", home, "once", "300", fail_at=f"{point}:1") if passes == 1 else _second(home, point))
    with open_engine(home) as engine:
        assert verify(engine.store, engine.log).faults == ()
        assert line(engine) == before
    finished(start("pruner", home, "once", str(KEEP)))
    with open_engine(home) as engine, open_engine(pruned_home) as undisturbed:
        assert line(engine) == before
        assert engine.store.sizes() == undisturbed.store.sizes()


def _second(home: Path, point: str) -> subprocess.Popen[str]:
    """A pruner that dies in its second step, on top of a first that another made."""
    finished(start("pruner", home, "once", "500"))
    return start("pruner", home, "once", "300", fail_at=f"{point}:1")


SUBJECTS = ("host:10.0.0.5", "host:10.0.0.6", "user:alice")


def _branches(count: int) -> Iterator[StateVersion]:
    """Each with an observation of its own; seven fingerprints recur in each case."""
    for n in range(count):
        about = factories.observation(n, subject=SUBJECTS[n % 3])
        yield factories.branch(
            factories.analysis(n % 7, subject=about.subject, at=factories.START + n, on=(about,)), about
        )


def test_pruning_beside_mergers_and_readers(tmp_path: Path) -> None:
    """I5, I7: two mergers race, a pruner leaves them as little as it can, and a reader folds what there is."""
    branches = list(_branches(900))
    undisturbed = made(tmp_path / "undisturbed", branches)
    with open_engine(undisturbed) as engine:
        merge(engine, Merger(engine.log, engine.store))
        expected = outcomes(engine)
    home = made(tmp_path / "home", branches)
    mergers = [start("drain", home, "3") for _ in range(2)]
    beside = start("pruner", home, "beside", "1")
    chance = random.Random(3)
    looked = 0
    with open_engine(home) as engine:
        while any(one.poll() is None for one in mergers):
            for row in engine.store.cases(None):
                number = chance.randint(0, row.number)
                summary = load_summary(engine.store, row.key, number, log=engine.log)
                assert summary.inputs_total == summary.analyses_total >= number
                assert len(state_at(engine.store, row.key, number, engine.log).inputs) == summary.inputs_total
                looked += 1
        for one in mergers:
            finished(one)
        gone = int(finished(beside))
        assert looked > 3
        assert gone > 100
        assert outcomes(engine) == expected
        report = verify(engine.store, engine.log)
        assert (report.faults, report.unpublished, report.pruned) == ((), 0, gone)
        for row in engine.store.cases(None):
            assert list(dict.fromkeys(published(engine, row.key))) == list(range(1, row.number + 1))
