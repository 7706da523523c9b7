"""StateStore: letting go of old versions, and where they lie on the tape."""

from __future__ import annotations

import pytest

from engines.engine import Engine
from engines.sizes import Size
from engines.store import Head, Move, Prune, Snapshot
from schemas.errors import EngineError, UsageError
from tests.conformance.adapter import Adapter
from tests.conformance.child import said, start
from tests.conformance.lines import CASE, GENESIS, commit, content, head_after, made_id

OTHER = "acme-corp/host:10.0.0.5"


def grown(engine: Engine, count: int, case: str = CASE) -> Head:
    """A case of this many versions, each with one content, all marked as published, with a snapshot at every fourth."""
    head = GENESIS
    for number in range(1, count + 1):
        snapshot = Snapshot(number, b"at %d" % number) if number % 4 == 0 else None
        one = commit(case, head, snapshot=snapshot)
        assert engine.store.commit([one]) == [True]
        head = head_after(one)
    assert engine.store.move_published([Move(case, 0, count, {n: 100 + n for n in range(1, count + 1)})]) == [True]
    return head


def prune(
    case: str, expected: int, number: int, *, keep: tuple[int, ...] = (), snapshots: tuple[int, ...] = ()
) -> Prune:
    """One that keeps the contents that these versions brought."""
    ids = [content("one", one).id for one in keep]
    return Prune(case, expected, number, ids, snapshots, {one: 200 + one for one in range(expected + 1, number + 1)})


def kept(engine: Engine, case: str = CASE) -> list[int]:
    return [one.number for one in engine.store.versions(case, 0, 999)]


def contents(engine: Engine, count: int, case: str = CASE) -> set[int]:
    """Which versions' contents are there."""
    ids = {content("one", number).id: number for number in range(1, count + 1)}
    found = engine.store.contents(case, list(ids))
    assert all(found[one] == content("one", ids[one]).body for one in found)
    return {ids[one] for one in found}


def test_what_goes_and_what_stays(engine: Engine) -> None:
    head = grown(engine, 20)
    neighbour = grown(engine, 20, OTHER)
    assert engine.store.pruned([CASE, OTHER, "acme/none"]) == {CASE: 0, OTHER: 0, "acme/none": 0}
    assert engine.store.prune([prune(CASE, 0, 12, keep=(3, 12), snapshots=(4,))]) == [True]
    assert engine.store.pruned([CASE, OTHER]) == {CASE: 12, OTHER: 0}
    assert kept(engine) == list(range(13, 21))
    assert contents(engine, 20) == {3, 12, *range(13, 21)}
    found = [engine.store.snapshot(CASE, number) for number in (7, 8, 11, 12, 20)]
    assert [one and one.number for one in found] == [None, 8, 8, 12, 20]
    assert engine.store.heads([CASE]) == {CASE: head}
    assert (kept(engine, OTHER), contents(engine, 20, OTHER)) == (list(range(1, 21)), set(range(1, 21)))
    assert engine.store.heads([OTHER]) == {OTHER: neighbour}


def test_what_went_stays_known(engine: Engine) -> None:
    """I4: a late repeat of it adds nothing."""
    grown(engine, 20)
    engine.store.prune([prune(CASE, 0, 12)])
    ids = [content("one", number).id for number in range(1, 21)]
    assert engine.store.known(CASE, [*ids, made_id("inp", "stranger")]) == set(ids)
    assert engine.store.content_numbers(CASE, ids) == {one: number for number, one in enumerate(ids, 1)}


def test_what_stayed_once_may_go_later(engine: Engine) -> None:
    grown(engine, 20)
    engine.store.prune([prune(CASE, 0, 8, keep=(2, 5, 8))])
    assert engine.store.prune([prune(CASE, 8, 16, keep=(5, 11), snapshots=(8, 12))]) == [True]
    assert contents(engine, 20) == {5, 11, 17, 18, 19, 20}
    found = [engine.store.snapshot(CASE, number) for number in (15, 16)]
    assert [one and one.number for one in found] == [4, 16]


def test_the_line_goes_on(engine: Engine) -> None:
    """I5: a writer on the head wins, one on an old head does not."""
    head = grown(engine, 8)
    engine.store.prune([prune(CASE, 0, 4)])
    late = commit(CASE, Head(3, made_id("ver", "one", 3)), writer="late")
    following = commit(CASE, head)
    assert engine.store.commit([late, following]) == [False, True]
    assert kept(engine) == [5, 6, 7, 8, 9]
    assert engine.store.known(CASE, [late.versions[0].contents[0].id]) == set()


def test_of_two_pruners_one_is_first(engine: Engine) -> None:
    grown(engine, 20)
    assert engine.store.prune([prune(CASE, 0, 8, keep=(1,)), prune(CASE, 0, 12), prune(CASE, 8, 12)]) == [
        True,
        False,
        True,
    ]
    assert (kept(engine), contents(engine, 12)) == (list(range(13, 21)), set())
    assert engine.store.prune([prune("acme/none", 0, 4)]) == [False]
    assert engine.store.prune([]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        prune(CASE, 0, 20),
        prune(CASE, 0, 16),
        prune(CASE, 0, 11),
        prune(CASE, 0, 0),
        prune(CASE, 0, 8, snapshots=(4, 8)),
    ],
    ids=["to the head", "beyond the mark", "no snapshot", "no move", "takes away what it stands on"],
)
def test_what_would_lose_something_is_refused(engine: Engine, wrong: Prune) -> None:
    """I2: and nothing is removed, not of the others of the call either."""
    grown(engine, 12)
    grown(engine, 12, OTHER)
    head = Head(12, made_id("ver", "one", 12))
    for number in range(13, 21):
        one = commit(CASE, head, snapshot=Snapshot(number, b"") if number % 4 == 0 else None)
        assert engine.store.commit([one]) == [True]
        head = head_after(one)
    with pytest.raises(UsageError):
        engine.store.prune([prune(OTHER, 0, 8), wrong])
    assert (kept(engine), kept(engine, OTHER)) == (list(range(1, 21)), list(range(1, 13)))


def test_what_is_to_stay_must_be_there(engine: Engine) -> None:
    grown(engine, 12)
    with pytest.raises(EngineError, match="lacks contents"):
        engine.store.prune([prune(CASE, 0, 8, keep=(3, 99))])
    assert (kept(engine), contents(engine, 12)) == (list(range(1, 13)), set(range(1, 13)))


def test_where_versions_lie_is_noted_for_good(engine: Engine) -> None:
    grown(engine, 12)
    assert engine.store.places(CASE, range(20)) == {number: 100 + number for number in range(1, 13)}
    assert engine.store.places(CASE, [7, 3]) == {3: 103, 7: 107}
    assert engine.store.places(OTHER, [1]) == {}
    engine.store.prune([prune(CASE, 0, 8)])
    noted = {number: (200 if number <= 8 else 100) + number for number in range(1, 13)}
    assert engine.store.places(CASE, range(20)) == noted, "a prune has looked where they are"


def test_a_place_may_be_unknown(engine: Engine) -> None:
    for number in (1, 2, 3):
        head = GENESIS if number == 1 else Head(number - 1, made_id("ver", "one", number - 1))
        engine.store.commit([commit(CASE, head)])
    assert engine.store.move_published([Move(CASE, 0, 1)]) == [True]
    assert engine.store.move_published([Move(CASE, 0, 2, {2: 9})]) == [False]
    assert engine.store.move_published([Move(CASE, 1, 3, {3: 7})]) == [True]
    assert engine.store.places(CASE, [1, 2, 3]) == {3: 7}, "what lost a race notes nothing"


def test_which_cases_could_be_pruned(engine: Engine) -> None:
    for name, count in (("long", 90), ("longer", 100), ("short", 20)):
        grown(engine, count, f"acme/{name}")
    engine.store.commit([commit("acme/long", Head(90, made_id("ver", "one", 90)))])
    assert list(engine.store.prunable(10, 9)) == ["acme/longer", "acme/long"], "none of 64 or fewer"
    assert list(engine.store.prunable(10, 1)) == ["acme/longer"]
    assert list(engine.store.prunable(90, 9)) == ["acme/longer"], "what has not been published does not count"
    engine.store.prune([prune("acme/longer", 0, 40)])
    assert list(engine.store.prunable(10, 9)) == ["acme/long"]


def test_sizes_add_up(engine: Engine) -> None:
    empty = engine.store.sizes()
    assert (empty.cases, empty.versions, empty.parts, empty.notes) == (0, Size(0, 0), {}, {})
    grown(engine, 20)
    grown(engine, 8, OTHER)
    engine.store.put_part("owner", "a", bytes(10))
    engine.store.put_part("owner", "b", bytes(20))
    engine.store.move_note("kind/of/note", None, b"12345")
    full = engine.store.sizes()
    assert (full.cases, full.versions.count, full.pruned, full.contents) == (2, 28, 0, 28)
    assert (full.snapshots.count, full.parts["owner"].count, full.notes["kind"]) == (7, 2, Size(1, 5))
    engine.store.prune([prune(CASE, 0, 12, keep=(1, 2), snapshots=(4, 8))])
    less = engine.store.sizes()
    assert (less.cases, less.versions.count, less.pruned, less.contents) == (2, 16, 12, 28)
    assert (less.remains.count, less.snapshots.count) == (2, 5)
    assert 0 < less.versions.bytes < full.versions.bytes
    assert less.remains.bytes > 0
    assert (engine.store.count(None), engine.store.count("acme"), engine.store.count("acme-corp")) == (2, 1, 1)
    assert engine.store.count("corp") == 0


def test_pruning_beside_a_writer(adapter: Adapter, engine: Engine) -> None:
    """I5: no gap and no loss, whoever is at work."""
    writer = start(adapter, "race", "left", 300)
    assert said(writer) == {"ready": True}
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()
    below = 0
    while below < 300 and (writer.poll() is None or below < engine.store.heads([CASE])[CASE].number - 8):
        head = engine.store.heads([CASE]).get(CASE, GENESIS)
        mark = engine.store.published([CASE])[CASE]
        if head.number > mark:
            engine.store.move_published([Move(CASE, mark, head.number)])
        snapshot = engine.store.snapshot(CASE, head.number - 4)
        if snapshot is not None and snapshot.number > below:
            assert engine.store.prune([Prune(CASE, below, snapshot.number, (), (), {})]) == [True]
            below = snapshot.number
    assert said(writer)["lost"] == 0
    assert writer.wait() == 0
    assert below > 200
    assert kept(engine) == list(range(below + 1, 301))
    ids = [content(f"left {number - 1}", number).id for number in range(1, 301)]
    assert len(engine.store.known(CASE, ids)) == 300
