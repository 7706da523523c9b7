"""Reading the past of a case: any version, at a cost its length does not enter, and what each author had before it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.sqlite import FILE, open_engine
from merge.graph import fold
from merge.history import difference, history, moment, provenance, state_at
from merge.merger import Merger
from merge.reading import load_summary, versions, whole
from merge.state import State, add, current
from merge.summary import moved
from schemas.errors import EngineError, UnknownCase, UnknownVersion
from schemas.version import StateVersion, genesis
from tests import factories
from tests.faults.merge.homes import batch, made

LENGTH = 200
CASE = factories.CASE


def grown(home: Path, length: int) -> list[StateVersion]:
    """A case of this many versions, each by an author who looked at the one before; ten fingerprints recur."""
    branches = []
    with open_engine(made(home)) as engine:
        merger = Merger(engine.log, engine.store, now=lambda: factories.START)
        parent = genesis(factories.TENANT, factories.SUBJECT).version_id()
        for n in range(length):
            seen = factories.observation(n)
            said = factories.analysis(n % 10, at=factories.START + n, on=(seen,), score=n)
            branches.append(factories.branch(said, seen, parent=parent, author=f"author {n}"))
            merger.handle(batch(branches[-1:]))
            parent = engine.store.heads([CASE])[CASE].id
    return branches


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[StateVersion]]:
    path = tmp_path_factory.mktemp("long")
    return path, grown(path, LENGTH)


@pytest.fixture
def engine(home: tuple[Path, list[StateVersion]]) -> Iterator[Engine]:
    with open_engine(home[0]) as opened:
        yield opened


@pytest.mark.parametrize("number", [0, 1, 63, 64, 65, 100, 199, 200])
def test_every_version_is_read_as_it_was(engine: Engine, home: tuple[Path, list[StateVersion]], number: int) -> None:
    expected = fold(home[1][:number])
    assert state_at(engine.store, CASE, number) == expected
    summary = load_summary(engine.store, CASE, number)
    assert (summary.number, summary.inputs_total, summary.analyses_total) == (number, number, number)
    assert summary.current == current(expected)
    assert summary.newest == (factories.START + number - 1 if number else None), "the newest analysis's, not input's"


def test_the_newest_is_read_by_default(engine: Engine) -> None:
    assert load_summary(engine.store, CASE).head == engine.store.heads([CASE])[CASE]
    assert len(state_at(engine.store, CASE).inputs) == LENGTH


def test_a_summary_goes_on_from_an_earlier_one(engine: Engine) -> None:
    whole_way = load_summary(engine.store, CASE, 190)
    for base in (load_summary(engine.store, CASE, 189), load_summary(engine.store, CASE, 3)):
        assert load_summary(engine.store, CASE, 190, base=base) == whole_way


def test_an_earlier_summary_of_another_line_is_not_gone_on_from(engine: Engine) -> None:
    wrong = moved(load_summary(engine.store, CASE, 189), 189, "ver_" + "0" * 64, 0)
    assert load_summary(engine.store, CASE, 190, base=wrong) == load_summary(engine.store, CASE, 190)


def test_history_is_the_line(engine: Engine) -> None:
    line = list(history(engine.store, CASE))
    assert [one.number for one in line] == list(range(1, LENGTH + 1))
    assert all(b.header.parents[0] == a.id for a, b in pairwise(line))
    assert [one.number for one in history(engine.store, CASE, 5, 9)] == [5, 6, 7, 8, 9]


def test_a_difference_between_two_versions(engine: Engine, home: tuple[Path, list[StateVersion]]) -> None:
    got = difference(engine.store, CASE, 120, 103)
    added = [one for branch in home[1][103:120] for one in branch.header.analyses]
    assert (got.first, got.last, got.analyses) == (103, 120, tuple(sorted(added)))
    assert len(got.inputs) == 17
    assert {one.id for one in got.became_current} == {branch.header.analyses[0] for branch in home[1][110:120]}
    assert {one.id for one in got.superseded} == {branch.header.analyses[0] for branch in home[1][93:103]}
    before, after = got.start.assessment, got.end.assessment
    assert before is not None
    assert after is not None
    assert (before.score, after.score) == (102, 119)
    assert before == moment(engine.store, CASE, 103).assessment


def test_an_analysis_knows_what_its_author_was_looking_at(
    engine: Engine, home: tuple[Path, list[StateVersion]]
) -> None:
    wanted = {branch.header.analyses[0]: n + 1 for n, branch in enumerate(home[1])}
    some = {one: n for one, n in wanted.items() if n in (1, 2, 77, LENGTH)}
    found = provenance(engine.store, CASE, [*some, "ana_unknown"])
    assert {one: (at.number, at.seen, at.author.name, at.branch) for one, at in found.items()} == {
        one: (n, n - 1, f"author {n - 1}", home[1][n - 1].id) for one, n in some.items()
    }


def test_an_author_may_have_looked_at_something_long_past_or_unknown(tmp_path: Path) -> None:
    grown(tmp_path, 40)
    with open_engine(tmp_path) as engine:
        old = next(versions(engine.store, CASE, 3, 3)).id
        late = factories.branch(factories.analysis(99), parent=old)
        lost = factories.branch(factories.analysis(98), parent="ver_" + "0" * 64)
        Merger(engine.log, engine.store).handle(batch([late, lost]))
        found = provenance(engine.store, CASE, [*late.header.analyses, *lost.header.analyses])
        assert [found[one].seen for one in (*late.header.analyses, *lost.header.analyses)] == [3, None]


@pytest.mark.parametrize("number", [-1, LENGTH + 1])
def test_what_is_not_there_is_an_error(engine: Engine, number: int) -> None:
    for read in (load_summary, state_at, moment):
        with pytest.raises(UnknownVersion, match=f"has no version {number}: its newest is {LENGTH}"):
            read(engine.store, CASE, number)
        with pytest.raises(UnknownCase, match="default/host:none"):
            read(engine.store, "default/host:none")


def test_what_the_store_no_longer_has_is_read_from_the_tape(tmp_path: Path) -> None:
    """I2: version n can be read back for ever."""
    branches = grown(tmp_path, 20)
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("DELETE FROM versions WHERE number BETWEEN 3 AND 6")
    with open_engine(tmp_path) as engine:
        assert state_at(engine.store, CASE, 9, engine.log) == fold(branches[:9])
        assert load_summary(engine.store, CASE, 5, log=engine.log).current == current(fold(branches[:5]))
        assert [one.number for one in history(engine.store, CASE, log=engine.log)] == list(range(1, 21))
        with pytest.raises(UnknownVersion, match="version 3 of"):
            state_at(engine.store, CASE, 9)


def test_a_lost_content_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    branches = grown(tmp_path, 3)
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("DELETE FROM content_index WHERE number = 2")
    with open_engine(tmp_path) as engine:
        with pytest.raises(EngineError, match="casetape cases verify"):
            load_summary(engine.store, CASE)
        assert add(State(), fold(branches[:1]).inputs.values()).inputs == state_at(engine.store, CASE, 1).inputs


def test_storage_grows_with_the_case_and_not_with_its_square(tmp_path: Path) -> None:
    """Field reports, second table, row 7."""
    sizes = []
    for length in (100, 1000):
        home = tmp_path / str(length)
        grown(home, length)
        with sqlite3.connect(home / FILE) as database:
            (size,) = database.execute(
                "SELECT (SELECT sum(length(record) + length(contents)) FROM versions)"
                " + coalesce((SELECT sum(length(body)) FROM snapshots), 0)"
            ).fetchone()
        sizes.append(size)
    assert 9 < sizes[1] / sizes[0] < 11


def test_the_versions_that_are_read_for_a_summary_are_bounded(engine: Engine) -> None:
    for number in range(1, LENGTH + 1):
        snapshot = engine.store.snapshot(CASE, number)
        assert number - (snapshot.number if snapshot else 0) <= 64


def test_a_whole_version_proves_itself(engine: Engine) -> None:
    for version in whole(engine.store, CASE, 60, 70):
        assert {content.opened().id for content in version.proven().contents} == {
            *version.header.inputs,
            *version.header.analyses,
        }
