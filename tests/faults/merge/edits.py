"""Edits of a database file by whoever can write to it, and what verification says of them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engines.sqlite import FILE, open_engine
from merge.verify import Report, verify


def verified(home: Path, case: str | None = None) -> Report:
    """What verification says of a home."""
    with open_engine(home) as engine:
        return verify(engine.store, engine.log, case)


Edit = Callable[[sqlite3.Connection], object]


def edited(original: Path, into: Path, edit: Edit) -> Report:
    """The report on a copy of the home with an edit in its file, which must have changed something."""
    into.mkdir(exist_ok=True)
    shutil.copy(original / FILE, into / FILE)
    with closing(sqlite3.connect(into / FILE)) as database:
        before = database.total_changes
        edit(database)
        database.commit()
        assert database.total_changes > before
    return verified(into)


def rows_of(database: sqlite3.Connection, table: str) -> dict[str, dict[str, Any]]:
    """The table's rows, each by the condition that names it; of the topics only the merger's own."""
    cursor = database.execute(f"SELECT * FROM {table}")  # noqa: S608 - a constant
    names = [one[0] for one in cursor.description]
    keys = [one[1] for one in database.execute(f"PRAGMA table_info({table})") if one[5]]
    topics = {one for (one,) in database.execute("SELECT id FROM topics WHERE name IN ('states', 'versions')")}
    rows = [dict(zip(names, row, strict=True)) for row in cursor]
    return {
        " AND ".join(f"{key} = {_literal(row[key])}" for key in keys): row
        for row in rows
        if row.get("topic_id") in topics | {None}
    }


def _literal(value: object) -> str:
    return f"x'{value.hex()}'" if isinstance(value, bytes) else repr(value)


def some_of(rows: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """First, middle and last."""
    return [rows[place] for place in sorted({0, len(rows) // 2, len(rows) - 1})]


def change(database: sqlite3.Connection, table: str, name: str, where: str, value: Any) -> None:
    """Puts something else than `value`, which is there, into a column of a row."""
    if isinstance(value, int):
        changed: object = value + 1000
    elif isinstance(value, str):
        changed = value + "x"
    else:
        middle = len(value) // 2
        changed = value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    database.execute(f"UPDATE {table} SET {name} = ? WHERE {where}", (changed,))  # noqa: S608 - of the tests' making
