"""SIGKILL at every named fail point of the merger, then a restart: the case comes to the same (I2, I4, I5, I7).

Field reports, second table, row 2: a crash between any two writes repeats nothing and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import NewRecord
from merge.merger import Merger
from merge.verify import verify
from tests import factories
from tests.engine import open_home
from tests.faults.merge.homes import finished, in_quarantine, killed, made, merge, outcomes, published, start

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

SUBJECTS = ("host:10.0.0.5", "host:10.0.0.6", "user:alice")
BRANCHES = [
    factories.finding(
        n % 7, subject=SUBJECTS[n % 3], at=factories.START + n, verdict="malicious" if n % 5 else "benign"
    )
    for n in range(60)
]
BAD = [NewRecord(factories.CASE, b'{"schema":1,"hist'), NewRecord("acme/host:1", BRANCHES[0].encode())]
LIMIT = "8"
POINTS = ["polled", "quarantined", "planned", "committed", "published", "marked"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Iterator[Engine]:
    with open_home(made(tmp_path_factory.mktemp("undisturbed"), BRANCHES, BAD)) as engine:
        merge(engine, Merger(engine.log, engine.store))
        yield engine


def same(engine: Engine, undisturbed: Engine) -> None:
    assert outcomes(engine) == outcomes(undisturbed)
    for row in engine.store.cases(None):
        numbers = published(engine, row.key)
        assert list(dict.fromkeys(numbers)) == list(range(1, row.number + 1))
        assert engine.store.published([row.key]) == {row.key: row.number}
    assert {one.id for one in in_quarantine(engine)} == {one.id for one in in_quarantine(undisturbed)}
    report = verify(engine.store, engine.log)
    assert (report.faults, report.unpublished) == ((), 0)


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_fail_point_changes_nothing(tmp_path: Path, undisturbed: Engine, point: str, passes: int) -> None:
    if point == "quarantined" and passes > 1:
        passes = 2
    home = made(tmp_path, BRANCHES, BAD)
    limit = "1" if point == "quarantined" else LIMIT
    killed(start("drain", home, limit, fail_at=f"merger.{point}:{passes}"))
    with open_home(home) as engine:
        assert verify(engine.store, engine.log).faults == (), "what a kill leaves behind is no damage"
    finished(start("drain", home, LIMIT))
    with open_home(home) as engine:
        same(engine, undisturbed)


def test_a_second_merger_publishes_what_the_first_had_no_time_to(tmp_path: Path, undisturbed: Engine) -> None:
    home = made(tmp_path, BRANCHES, BAD)
    killed(start("drain", home, LIMIT, fail_at="merger.committed:2"))
    with open_home(home) as engine:
        assert engine.store.unpublished(10)
        Merger(engine.log, engine.store).idle()
        assert not engine.store.unpublished(10)
        for row in engine.store.cases(None):
            assert published(engine, row.key) == list(range(1, row.number + 1))
    finished(start("drain", home, LIMIT))
    with open_home(home) as engine:
        same(engine, undisturbed)


def test_a_merger_killed_again_and_again_gets_there(tmp_path: Path, undisturbed: Engine) -> None:
    home = made(tmp_path, BRANCHES, BAD)
    for point in ("planned:2", "published:2", "committed:2", "marked:2"):
        killed(start("drain", home, "4", fail_at=f"merger.{point}"))
    finished(start("drain", home, LIMIT))
    with open_home(home) as engine:
        same(engine, undisturbed)
