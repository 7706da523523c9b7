"""I5: one line per case, whoever writes it at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.engine import Engine
from engines.topics import VERSIONS
from merge.merger import ATTEMPTS, Merger
from merge.policies.registry import WORST, BoundPolicy
from merge.reading import load_summary
from merge.reassess import reassess
from merge.verify import verify
from schemas.errors import Lost
from tests import factories
from tests.engine import open_home
from tests.faults.merge.homes import batch, finished, made, merge, outcomes, published, start

pytestmark = pytest.mark.usefixtures("each_engine")

MANY = 10_000


def test_two_mergers_racing_on_one_case_make_one_line_with_everything_in_it(tmp_path: Path) -> None:
    """Field reports, second table, rows 1 and 17: nothing is lost, and the loser goes on with the winner's result."""
    branches = [factories.branch(factories.analysis(n % 100, at=factories.START + n)) for n in range(MANY)]
    home = made(tmp_path, branches)
    racers = [start("race", home, way) for way in ("forwards", "backwards")]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    lost = sum(int(finished(racer)) for racer in racers)
    assert lost > 0
    with open_home(home) as engine:
        merge(engine, Merger(engine.log, engine.store), 1000)
        ids = [content.id for one in branches for content in one.contents]
        assert engine.store.known(factories.CASE, ids) == set(ids)
        number = engine.store.heads([factories.CASE])[factories.CASE].number
        kept = engine.store.versions(factories.CASE, 1, MANY)
        assert [one.number for one in kept] == list(range(1, number + 1))
        assert list(dict.fromkeys(published(engine, factories.CASE))) == list(range(1, number + 1))
        summary = load_summary(engine.store, factories.CASE)
        assert summary.analyses_total == MANY
        assert {one.at for one in summary.current.values()} == {factories.START + MANY - 1 - n for n in range(100)}
        assert verify(engine.store, engine.log).faults == ()


def test_mergers_that_take_turns_see_each_other(tmp_path: Path) -> None:
    """A cached summary counts only where the head agrees."""
    home = made(tmp_path / "a")
    with open_home(home) as one, open_home(home) as other, open_home(made(tmp_path / "b")) as alone:
        mergers = [Merger(one.log, one.store), Merger(other.log, other.store)]
        single = Merger(alone.log, alone.store)
        found = [factories.finding(n % 9, at=factories.START + n) for n in range(100)]
        one.log.append(VERSIONS, factories.appended(*found))
        for n, branch in enumerate(found):
            mergers[n % 7 % 2].handle(batch([branch]))
        single.handle(batch(found))
        assert outcomes(one) == outcomes(alone)
        assert verify(one.store, one.log).faults == ()


def test_a_reassessment_and_a_merger_share_the_line(tmp_path: Path) -> None:
    with open_home(made(tmp_path)) as engine:
        merger = Merger(engine.log, engine.store)
        merger.handle(batch([factories.finding(1)]))
        before = outcomes(engine)[factories.CASE]
        version = reassess(engine.store, engine.log, factories.CASE, WORST, person="ada", now=factories.START)
        assert (version.number, version.header.author.kind, version.header.author.name) == (2, "person", "ada")
        assert outcomes(engine)[factories.CASE] == before
        merger.handle(batch([factories.finding(2)]))
        assert published(engine, factories.CASE) == [1, 2, 3]


class Rival:
    """A second merger that commits to the case while the first is choosing its policy, this many times."""

    def __init__(self, engine: Engine, times: int) -> None:
        self._merger = Merger(engine.log, engine.store)
        self._left = times

    def __call__(self, tenant: str, subject: str) -> BoundPolicy:
        if self._left:
            self._left -= 1
            self._merger.handle(batch([factories.finding(1000 + self._left)]))
        return WORST


def test_a_merger_that_loses_merges_again_on_top_of_the_winner(tmp_path: Path) -> None:
    with open_home(made(tmp_path)) as engine:
        merger = Merger(engine.log, engine.store, Rival(engine, 3))
        merger.handle(batch([factories.finding(1)]))
        assert (merger.stats.lost_races, merger.stats.versions) == (3, 1)
        assert published(engine, factories.CASE) == [1, 2, 3, 4]
        assert outcomes(engine)[factories.CASE].analyses == 4


def test_a_merger_that_always_loses_hands_its_batch_back(tmp_path: Path) -> None:
    """Bounded: its host tries again, and the offset stays where it was."""
    with open_home(made(tmp_path)) as engine:
        merger = Merger(engine.log, engine.store, Rival(engine, ATTEMPTS))
        with pytest.raises(Lost) as caught:
            merger.handle(batch([factories.finding(1)]))
        assert caught.value.retriable
        assert merger.stats.lost_races == ATTEMPTS
        merger.handle(batch([factories.finding(1)]))
        assert outcomes(engine)[factories.CASE].analyses == ATTEMPTS + 1
        assert published(engine, factories.CASE) == list(range(1, ATTEMPTS + 2))
