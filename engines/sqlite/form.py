"""The form of the file: how a new one is made, and how one of an earlier casetape is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from engines.sqlite.connection import WAL_BYTES, WAL_PAGES, Database
from schemas.errors import EngineError

FORMAT = 2


def prepare(database: Database, create: bool) -> None:
    """Sets up a connection that writes; makes the tables where there are none and it may `create` them, and those of an
    earlier format anew. Raises what `check` raises."""
    if create:
        # counts only until the first page is written: what is freed can then be given back to the disk
        database.rows("PRAGMA auto_vacuum=INCREMENTAL")
    database.rows("PRAGMA journal_mode=WAL")
    database.rows("PRAGMA synchronous=FULL")
    database.rows(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
    database.rows(f"PRAGMA journal_size_limit={WAL_BYTES}")
    if create and not _has_tables(database):
        with database.writing() as connection:
            # another process may have been first
            if not _has_tables(database):
                _run(connection, "schema.sql")
    if _has_tables(database) and _format(database) == 1:
        with database.writing() as connection:
            if _format(database) == 1:
                _run(connection, "upgrade.sql")
    check(database)


def check(database: Database) -> None:
    """Raises EngineError where the file has no tables, or is of another format."""
    if not _has_tables(database):
        raise missing(database.path)
    found = _format(database)
    if found == 1:
        raise EngineError(
            f"{database.path} has format 1, and this casetape reads format {FORMAT}:"
            " `casetape run` brings it up to date, which no earlier casetape can read then"
        )
    if found != FORMAT:
        raise EngineError(
            f"{database.path} has format {found}, and this casetape knows format {FORMAT}:"
            " use the casetape that made it"
        )


def missing(path: Path) -> EngineError:
    """That there is nothing at this path."""
    return EngineError(f"there is no casetape data in {path.parent}: feed something first, or name another --home")


def _has_tables(database: Database) -> bool:
    return database.row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'about'") is not None


def _format(database: Database) -> int:
    (found,) = database.row("SELECT schema FROM about")
    return int(found)


def _run(connection: sqlite3.Connection, name: str) -> None:
    for statement in _statements(files("engines.sqlite").joinpath(name).read_text("utf-8")):
        connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
