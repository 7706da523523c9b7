"""I1: the store is made anew from `states` with the same numbers and ids; one that is behind is noticed and refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import LogRecord, NewRecord
from engines.topics import STATES, VERSIONS
from merge.highwater import admit, behind
from merge.merger import Merger
from merge.rebuild import rebuild
from merge.tape import MERGER, partitions_of
from merge.verify import verify
from schemas.errors import StoreBehind
from schemas.version import StateVersion
from tests import factories
from tests.engine import open_home
from tests.faults.merge.homes import made, merge, outcomes, published

pytestmark = pytest.mark.usefixtures("each_engine")
SUBJECTS = ("host:10.0.0.5", "host:10.0.0.6", "user:alice")
BRANCHES = [
    *(factories.finding(n % 5, subject=SUBJECTS[n % 3], at=factories.START + n) for n in range(60)),
    *(factories.finding(n % 4, subject="host:10.9.9.9", at=factories.START + n) for n in range(90)),
]
"""The last case is long enough for snapshots."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_home(made(tmp_path, BRANCHES)) as opened:
        admit(opened)
        merge(opened, Merger(opened.log, opened.store), 7)
        yield opened


def everything(engine: Engine) -> Mapping[str, object]:
    """All that a store says of its cases."""
    found: dict[str, object] = {}
    for row in engine.store.cases(None, order="key"):
        numbers = range(1, row.number + 1)
        found[row.key] = (
            row,
            [(one.number, one.id, one.record) for one in engine.store.versions(row.key, 1, row.number)],
            engine.store.published([row.key]),
            engine.store.places(row.key, numbers),
            engine.store.snapshot(row.key, row.number),
        )
    return found


def lose(engine: Engine, *cases: str) -> None:
    """Takes cases from the store, as a server does that comes back with less than it had."""
    engine.store.drop(cases)


def test_a_whole_store_is_not_behind(engine: Engine) -> None:
    assert behind(engine) is None
    admit(engine)
    assert engine.store.refused() is None


def test_it_is_made_anew_as_it_was(engine: Engine) -> None:
    before, results, epoch = everything(engine), outcomes(engine), engine.store.epoch()
    done = rebuild(engine)
    assert everything(engine) == before
    assert outcomes(engine) == results
    assert (done.cases, done.versions, done.repeats) == (4, sum(row.number for row in engine.store.cases(None)), 0)
    assert engine.store.refused() is None
    assert engine.store.epoch() not in (None, epoch)
    report = verify(engine.store, engine.log)
    assert (report.faults, report.unpublished) == ((), 0)


@pytest.mark.parametrize("how_many", [1, 4])
def test_a_store_that_lost_cases_is_refused_until_it_is_made_anew(engine: Engine, how_many: int) -> None:
    before = everything(engine)
    lose(engine, *list(before)[:how_many])
    assert "casetape rebuild" in str(behind(engine))
    with pytest.raises(StoreBehind, match="casetape rebuild"):
        admit(engine)
    assert engine.store.refused() is not None
    rebuild(engine)
    admit(engine)
    assert everything(engine) == before


def test_work_goes_on_where_the_tape_ends(engine: Engine, tmp_path: Path) -> None:
    """What had not reached `states` is merged again to an equal state."""
    more = [factories.finding(n + 10, subject=SUBJECTS[n % 3], at=factories.START + 900 + n) for n in range(9)]
    engine.log.append(VERSIONS, factories.appended(*more))
    rebuild(engine)
    merge(engine, Merger(engine.log, engine.store), 100)
    for row in engine.store.cases(None):
        assert published(engine, row.key) == list(range(1, row.number + 1))
    with open_home(made(tmp_path / "undisturbed", [*BRANCHES, *more])) as other:
        merge(other, Merger(other.log, other.store), 100)
        assert outcomes(engine) == outcomes(other)


def taped(engine: Engine) -> list[LogRecord]:
    """The records of a case in `states`."""
    (at,) = partitions_of(engine.log, STATES, factories.CASE)
    return [one for one in engine.log.read(at, 0, 10_000) if one.key == factories.CASE]


def test_repeats_in_states_are_repeats(engine: Engine) -> None:
    engine.log.append(STATES, [NewRecord(one.key, one.value) for one in taped(engine)[:3]])
    before = outcomes(engine)
    assert rebuild(engine).repeats == 3
    assert outcomes(engine) == before


@pytest.mark.parametrize("further", [0, 1, 2])
def test_what_stands_on_no_line_is_left_out_and_merged_again(engine: Engine, further: int) -> None:
    """A merger that was frozen while the store was made anew wakes, and publishes under numbers that others have given;
    nobody's word is lost for it."""
    version = StateVersion.parse(taped(engine)[-1].value)
    header = version.header.model_copy(
        update={"number": version.number + further, "at": version.header.at + 1, "parents": ("ver_" + "0" * 64,)}
    )
    forged = version.model_copy(update={"header": header, "id": header.version_id()})
    engine.log.append(STATES, [NewRecord(factories.CASE, forged.encode())])
    before, results = everything(engine), outcomes(engine)
    assert rebuild(engine).left_out == 1
    assert everything(engine) == before
    assert engine.log.committed(MERGER, VERSIONS) == {}
    merge(engine, Merger(engine.log, engine.store), 100)
    assert outcomes(engine) == results


def test_what_is_no_version_is_left_out(engine: Engine) -> None:
    """One bad record must not cost the store."""
    good = taped(engine)[-1]
    outline = StateVersion.parse(good.value)
    renumbered = outline.header.model_copy(update={"number": 7_000})
    bad = [
        NewRecord("", b"\xff\x00"),
        NewRecord(factories.CASE, b""),
        NewRecord("acme-corp/host:10.0.0.5", good.value),
        NewRecord(factories.CASE, outline.model_copy(update={"header": renumbered}).encode()),
        NewRecord("no case at all", good.value),
    ]
    engine.log.append(STATES, bad)
    before = everything(engine)
    done = rebuild(engine)
    assert (done.left_out, done.records) == (len(bad), done.versions + done.repeats + len(bad))
    assert everything(engine) == before
