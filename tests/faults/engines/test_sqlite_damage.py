"""Rows that were damaged in the file: reading them is an error that says where, whatever the damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import TopicPartition
from engines.sqlite import FILE, open_engine
from engines.topics import VERSIONS
from merge.merger import Merger
from schemas.errors import EngineError
from tests import factories
from tests.faults.merge.homes import made, merge

IDS = [one.id for n in range(2) for one in factories.finding(n).contents]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One case, in one version, of two branches that lie in one batch."""
    home = made(tmp_path / "home", [factories.finding(n) for n in range(2)])
    with open_engine(home) as engine:
        merge(engine, Merger(engine.log, engine.store, now=lambda: factories.START))
    return home


def damaged(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / FILE)) as database:
        assert database.execute(change).rowcount > 0
        database.commit()


@pytest.mark.parametrize(
    "change",
    [
        *(f"content_count = {count}" for count in ("0", "1", "content_count + 1", "1000000", "-1")),
        "contents = x'00'",
        "contents = x''",
        "contents = 'text'",
        "contents = zeroblob(1000000)",
        "contents = substr(contents, 1, length(contents) - 1)",
        "contents_codec = 0",
        "contents_codec = 9",
        "contents_codec = 0, contents = x'ff'",
        # one pair, the key of which is no UTF-8
        "contents_codec = 0, content_count = 1, contents = x'010000000100000001000000ffff'",
    ],
)
def test_a_damaged_bundle_of_contents_names_case_and_version(home: Path, change: str) -> None:
    damaged(home, f"UPDATE versions SET {change}")  # noqa: S608 - of this file's making
    with open_engine(home) as engine, pytest.raises(EngineError) as caught:
        engine.store.contents(factories.CASE, IDS)
    _says_where(caught.value)


@pytest.mark.parametrize("change", ["record = x'00', record_codec = 1", "record_codec = 9", "record = 'text'"])
def test_a_damaged_record_of_a_version_names_case_and_version(home: Path, change: str) -> None:
    damaged(home, f"UPDATE versions SET {change}")  # noqa: S608 - of this file's making
    with open_engine(home) as engine, pytest.raises(EngineError) as caught:
        engine.store.versions(factories.CASE, 1, 1)
    _says_where(caught.value)


def _says_where(error: EngineError) -> None:
    assert type(error) is EngineError
    assert f"version 1 of `{factories.CASE}`" in str(error)
    assert f"run `casetape cases verify {factories.CASE}`" in str(error)


@pytest.mark.parametrize("change", ["version_id = x'fffefd00'", "version_id = x''"])
def test_a_damaged_id_is_another_id(home: Path, change: str) -> None:
    with open_engine(home) as engine:
        before = engine.store.heads([factories.CASE])[factories.CASE]
    damaged(home, f"UPDATE cases SET {change}")  # noqa: S608 - of this file's making
    with open_engine(home) as engine:
        head = engine.store.heads([factories.CASE])[factories.CASE]
        assert head.number == before.number
        assert head.id != before.id
        (row,) = engine.store.cases(None)
        assert row.id == head.id


def _read(engine: Engine, at: TopicPartition) -> object:
    return engine.log.read(at, 0, 10)


def _fetch(engine: Engine, at: TopicPartition) -> object:
    return engine.log.fetch(at, [1])


@pytest.mark.parametrize("call", [_read, _fetch])
@pytest.mark.parametrize("change", ["count = 1", "body = x'00'", "codec = 9", "codec = 0, body = x'ffffffff'"])
def test_a_damaged_batch_names_its_offsets(
    home: Path, change: str, call: Callable[[Engine, TopicPartition], object]
) -> None:
    with open_engine(home) as engine:
        (partition,) = [one for one, end in engine.log.end_offsets(VERSIONS).items() if end]
    versions = "topic_id = (SELECT id FROM topics WHERE name = 'versions')"
    damaged(home, f"UPDATE batches SET {change} WHERE {versions}")  # noqa: S608 - of this file's making
    with open_engine(home) as engine:
        at = TopicPartition(VERSIONS, partition)
        if change == "count = 1" and call is _fetch:
            assert call(engine, at) == {}
            return
        with pytest.raises(EngineError, match=r"records 0 up to [01]: a stored block"):
            call(engine, at)
