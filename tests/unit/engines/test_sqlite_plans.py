"""How SQLite finds what is asked of a long case: by its key, and never by walking through the case."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.sqlite.ids import pack_id
from engines.sqlite.opening import open_database
from engines.sqlite.store import SqliteStore

CASE = "default/host:10.0.0.5"
CONTENTS = [f"ana_{number:064x}" for number in range(100)]


@pytest.mark.parametrize(
    "read",
    [
        lambda store: store.versions(CASE, 5, 9),
        lambda store: store.contents(CASE, CONTENTS),
        lambda store: store.content_numbers(CASE, CONTENTS),
        lambda store: store.snapshot(CASE, 5),
    ],
)
def test_a_read_of_few_walks_through_no_case(tmp_path: Path, read: Callable[[SqliteStore], object]) -> None:
    """The bound of what was pruned must not choose the index: by it all newer versions would be looked at."""
    database = open_database(tmp_path, create=True, read_only=False)
    connection = database._connection
    _one_case(connection)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    read(SqliteStore(database))
    connection.set_trace_callback(None)
    texts = [text for text in asked if text.startswith("SELECT")]
    plans = [row[3] for text in texts for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")]
    database.close()
    assert [plan for plan in plans if "versions" in plan or "content_index" in plan or "snapshots" in plan]
    assert not [plan for plan in plans if plan.startswith("SCAN") or plan.endswith("number>?)")], plans


def _one_case(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO cases (id, key, tenant, subject, number, version_id, verdict, severity, score, analyses,"
        " conflicts, updated_at) VALUES (1, ?, 'default', 'host:10.0.0.5', 9, x'00', 'unknown', 'info', 0, 0, 0, 0)",
        (CASE,),
    )
    brought = [(pack_id(one), number) for number, one in enumerate(CONTENTS)]
    connection.executemany("INSERT INTO content_index VALUES (1, ?, ?)", brought)
