"""I2: verification finds any edit and any cut, made in a real database file by whoever can write to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.log import NewRecord
from engines.sqlite import FILE, open_engine
from engines.sqlite.batch import frame, pack, unframe, unpack
from engines.topics import STATES, VERSIONS
from merge.merger import Merger
from schemas.errors import UnknownCase, UsageError
from tests import factories
from tests.faults.merge.edits import change, edited, rows_of, some_of, verified
from tests.faults.merge.homes import made, merge

OTHER = "host:10.0.0.6"
LONG = 66
"""Versions of the first case: enough for a snapshot. The other has two."""
BRANCHES = [factories.finding(n % 4, at=factories.START + n) for n in range(LONG)]
BRANCHES += [factories.finding(n, subject=OTHER) for n in range(2)]
BAD = [NewRecord(factories.CASE, b"{}")]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = made(tmp_path_factory.mktemp("original"), BRANCHES, BAD)
    with open_engine(home) as engine:
        merge(engine, Merger(engine.log, engine.store, now=lambda: factories.START), 1)
    return home


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One case of two versions, each record in a batch of its own."""
    home = made(tmp_path_factory.mktemp("small"))
    branches = [factories.finding(n, target="t", verdict=verdict) for n, verdict in enumerate(("benign", "malicious"))]
    with open_engine(home) as engine:
        for branch in branches:
            engine.log.append(VERSIONS, factories.appended(branch))
        merge(engine, Merger(engine.log, engine.store, now=lambda: factories.START), 1)
    return home


def test_an_honest_file_verifies(original: Path) -> None:
    report = verified(original)
    assert (report.cases, report.versions, report.contents) == (2, LONG + 2, LONG + 4 + 4)
    assert (report.ok, report.faults, report.unpublished) == (True, (), 0)
    one = verified(original, factories.CASE)
    assert (one.cases, one.versions, one.ok) == (1, LONG, True)


def test_a_case_that_nobody_knows_is_an_error(original: Path) -> None:
    with pytest.raises(UnknownCase):
        verified(original, "default/host:none")
    with pytest.raises(UsageError):
        verified(original, "NO/CASE")


def test_what_is_committed_and_not_yet_published_is_no_fault(original: Path, tmp_path: Path) -> None:
    def unpublish(database: sqlite3.Connection) -> None:
        topic = "topic_id = (SELECT id FROM topics WHERE name = 'states')"
        database.execute("UPDATE cases SET published = 1 WHERE subject = ?", (OTHER,))
        ((last, partition),) = database.execute(
            f"SELECT max(base_offset), partition FROM batches WHERE {topic} AND partition ="  # noqa: S608 - constants
            f" (SELECT partition FROM batches WHERE {topic} GROUP BY partition HAVING count(*) < 10)"
        )
        where = f"{topic} AND partition = {partition}"
        database.execute(f"DELETE FROM batches WHERE {where} AND base_offset = {last}")  # noqa: S608 - numbers
        database.execute(f"UPDATE partitions SET next_offset = {last} WHERE {where}")  # noqa: S608 - numbers

    report = edited(original, tmp_path, unpublish)
    assert (report.faults, report.unpublished) == ((), 1)


COLUMNS = [
    *(f"cases.{one}" for one in ("key", "tenant", "subject", "number", "version_id", "verdict", "severity", "score")),
    *(f"cases.{one}" for one in ("id", "analyses", "conflicts", "updated_at", "published")),
    *(f"versions.{one}" for one in ("case_id", "number", "version_id", "record_codec", "record", "content_count")),
    *(f"versions.{one}" for one in ("contents_codec", "contents")),
    *(f"content_index.{one}" for one in ("case_id", "content_id", "number")),
    *(f"snapshots.{one}" for one in ("number", "codec", "body")),
    *(f"batches.{one}" for one in ("topic_id", "partition", "base_offset", "count", "codec", "body")),
    *(f"partitions.{one}" for one in ("next_offset",)),
    *("cases.pruned", "places.tape_offset"),
]
"""All that verification vouches for. The rest: a snapshot or a place under another case's id or number and a mark moved
back are as if they were lost, and cost work only; `appended_at` and `start_offset` are the log's own; `bytes` and
`contents` of cases and partitions are counts for people."""


@pytest.mark.parametrize("column", COLUMNS)
def test_any_column_that_is_edited_is_found(original: Path, tmp_path: Path, column: str) -> None:
    table, name = column.split(".")
    with closing(sqlite3.connect(original / FILE)) as database:
        rows = rows_of(database, table)
    for rowid, value in some_of([(where, row[name]) for where, row in rows.items()]):
        report = edited(original, tmp_path, lambda db, w=rowid, v=value: change(db, table, name, w, v))  # type: ignore[misc] # bound now
        assert not report.ok, f"{column} where {rowid}"


@pytest.mark.parametrize("table", ["cases", "versions", "content_index", "batches"])
def test_any_row_that_is_deleted_is_found(small: Path, tmp_path: Path, table: str) -> None:
    with closing(sqlite3.connect(small / FILE)) as database:
        rows = rows_of(database, table)
    assert rows
    for where in rows:
        report = edited(small, tmp_path, lambda db, w=where: db.execute(f"DELETE FROM {table} WHERE {w}"))  # type: ignore[misc] # noqa: S608 - bound now, of this file's making
        assert not report.ok, f"{table} where {where}"


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a JSON value that is no object or list with something in it."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, (*path, key))
    else:
        yield path


def _flipped(body: bytes, path: tuple[Any, ...]) -> bytes:
    whole = json.loads(body)
    place = whole
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    if isinstance(old, bool):
        place[path[-1]] = not old
    elif isinstance(old, int):
        place[path[-1]] = old + 1
    elif isinstance(old, str):
        place[path[-1]] = old[:-1] + ("x" if old[-1:] != "x" else "y")
    else:
        place[path[-1]] = {"x": 1} if isinstance(old, dict) else ["x"] if isinstance(old, list) else "x"
    return json.dumps(whole, separators=(",", ":")).encode()


def test_any_field_of_a_version_that_is_edited_is_found(small: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(small / FILE)) as database:
        codec, packed = database.execute("SELECT record_codec, record FROM versions WHERE number = 1").fetchone()
    record = unpack(codec, packed)
    paths = list(_leaves(json.loads(record)))
    assert len(paths) > 30
    for path in paths:
        change = (*pack(_flipped(record, path)),)
        report = edited(
            small,
            tmp_path,
            lambda db, c=change: db.execute("UPDATE versions SET record_codec = ?, record = ? WHERE number = 1", c),  # type: ignore[misc] # bound now
        )
        assert not report.ok, path


def test_any_field_of_a_content_that_is_edited_is_found(small: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(small / FILE)) as database:
        codec, packed, count = database.execute(
            "SELECT contents_codec, contents, content_count FROM versions WHERE number = 2"
        ).fetchone()
    ids, bodies = unframe(unpack(codec, packed), count)
    for place, body in enumerate(bodies):
        for path in _leaves(json.loads(body)):
            with_change = [*bodies[:place], _flipped(body, path), *bodies[place + 1 :]]
            change = (*pack(frame(list(zip(ids, with_change, strict=True)))),)
            report = edited(
                small,
                tmp_path,
                lambda db, c=change: db.execute(  # type: ignore[misc] # bound now
                    "UPDATE versions SET contents_codec = ?, contents = ? WHERE number = 2", c
                ),
            )
            assert not report.ok, path


@pytest.mark.parametrize("topic", [STATES, VERSIONS])
def test_any_field_on_the_tape_that_is_edited_is_found(small: Path, tmp_path: Path, topic: str) -> None:
    where = "topic_id = (SELECT id FROM topics WHERE name = ?) AND base_offset = 1"
    with closing(sqlite3.connect(small / FILE)) as database:
        codec, packed = database.execute(f"SELECT codec, body FROM batches WHERE {where}", (topic,)).fetchone()  # noqa: S608 - a constant
    (key,), (value,) = unframe(unpack(codec, packed), 1)
    for path in _leaves(json.loads(value)):
        change = (*pack(frame([(key, _flipped(value, path))])), topic)
        report = edited(
            small,
            tmp_path,
            lambda db, c=change: db.execute(f"UPDATE batches SET codec = ?, body = ? WHERE {where}", c),  # type: ignore[misc] # noqa: S608 - bound now, a constant
        )
        assert not report.ok, path


def _cut_store(database: sqlite3.Connection) -> None:
    """Takes the last version out of the store as if it had never been, row and mark included."""
    database.execute("DELETE FROM versions WHERE number = 2")
    database.execute("DELETE FROM content_index WHERE number = 2")
    database.execute(
        "UPDATE cases SET number = 1, published = 1, verdict = 'benign', analyses = 1, conflicts = 0,"
        " version_id = (SELECT version_id FROM versions)"
    )


def _cut_states(database: sqlite3.Connection) -> None:
    where = "topic_id = (SELECT id FROM topics WHERE name = 'states')"
    database.execute(f"DELETE FROM batches WHERE {where} AND base_offset = 1")  # noqa: S608 - a constant
    database.execute(f"UPDATE partitions SET next_offset = 1 WHERE {where} AND next_offset = 2")  # noqa: S608 - a constant


def test_a_cut_at_the_end_of_the_store_is_found_by_states(small: Path, tmp_path: Path) -> None:
    report = edited(small, tmp_path, _cut_store)
    assert any("1 versions in `states` are beyond what the store has" in fault.what for fault in report.faults)
    assert {fault.case for fault in report.faults} == {factories.CASE}


def test_a_cut_at_the_end_of_both_is_found_by_the_branches_that_were_handled(small: Path, tmp_path: Path) -> None:
    def cut(database: sqlite3.Connection) -> None:
        _cut_store(database)
        _cut_states(database)

    (fault,) = edited(small, tmp_path, cut).faults
    assert fault.what == "2 contents of handled branches are not in the case (offset 1 first)"


def test_a_cut_at_the_end_of_states_is_found_by_the_mark(small: Path, tmp_path: Path) -> None:
    (fault,) = edited(small, tmp_path, _cut_states).faults
    assert (fault.number, fault.what) == (2, "1 versions that were published are not in `states`")
