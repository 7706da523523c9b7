"""StateStore: heads, versions, contents, snapshots."""

from __future__ import annotations

import pytest

from engines.engine import Engine
from engines.log import TopicPartition
from engines.store import CaseRow, Commit, Head, Move, Snapshot, StoredContent, StoredVersion
from schemas.errors import UsageError
from tests.conformance.adapter import Adapter
from tests.conformance.child import said, start
from tests.conformance.lines import CASE, GENESIS, commit, content, head_after, made_id, row, version
from tests.conformance.members import TOPIC

ALL_BYTES = bytes(range(256))


def test_a_case_without_versions_is_missing(engine: Engine) -> None:
    store = engine.store
    assert store.heads([CASE]) == {}
    assert store.heads([]) == {}
    assert store.row(CASE) is None
    assert store.versions(CASE, 1, 10) == []
    assert store.known(CASE, [made_id("inp", 1)]) == set()
    assert store.contents(CASE, [made_id("inp", 1)]) == {}
    assert store.snapshot(CASE, 10) is None


def test_every_field_comes_back(engine: Engine) -> None:
    contents = (StoredContent("inp_odd", ALL_BYTES), content("a"), StoredContent(made_id("ana", 1), b""))
    stored = StoredVersion(1, made_id("ver", 1), ALL_BYTES * 20, contents)
    case = "acme/user:%C3%A9"
    full = CaseRow(case, "acme", "user:é", 1, stored.id, "malicious", "critical", 987_654, 17, 4, 2**53 + 1)
    one = commit(case, GENESIS, [stored], snapshot=Snapshot(1, ALL_BYTES))._replace(row=full)
    assert engine.store.commit([one]) == [True]
    assert engine.store.heads([case]) == {case: Head(1, stored.id)}
    assert engine.store.row(case) == full
    assert engine.store.versions(case, 0, 99) == [stored._replace(contents=())]
    ids = [content.id for content in contents]
    assert engine.store.contents(case, ids) == dict(contents)
    assert engine.store.known(case, [*ids, "inp_other"]) == set(ids)
    assert engine.store.content_numbers(case, [*ids, "inp_other"]) == dict.fromkeys(ids, 1)
    assert engine.store.snapshot(case, 1) == Snapshot(1, ALL_BYTES)


def test_a_line_grows_by_several_versions_at_a_time(engine: Engine) -> None:
    """I2: what was committed reads back for ever."""
    head = GENESIS
    for start_at in range(1, 31, 3):
        one = commit(CASE, head, [version(number) for number in range(start_at, start_at + 3)])
        assert engine.store.commit([one]) == [True]
        head = head_after(one)
    expected = [version(number)._replace(contents=()) for number in range(1, 31)]
    assert engine.store.versions(CASE, 1, 30) == expected
    assert engine.store.versions(CASE, 7, 12) == expected[6:12]
    assert engine.store.versions(CASE, 29, 99) == expected[28:]
    ids = [content("one", number).id for number in range(1, 31)]
    assert engine.store.content_numbers(CASE, ids) == {identifier: n for n, identifier in enumerate(ids, start=1)}


@pytest.mark.parametrize(
    "expected", [Head(0, GENESIS.id), Head(2, made_id("ver", "one", 2)), Head(1, made_id("ver", "two", 1))]
)
def test_a_commit_on_another_head_leaves_no_trace(engine: Engine, expected: Head) -> None:
    """I5: the head moves by compare-and-swap on number and id."""
    first = commit(CASE, GENESIS)
    assert engine.store.commit([first]) == [True]
    stale = commit(CASE, expected, writer="late", snapshot=Snapshot(expected.number + 1, b"late"), score=1)
    assert engine.store.commit([stale]) == [False]
    assert engine.store.heads([CASE]) == {CASE: head_after(first)}
    assert engine.store.row(CASE) == first.row
    assert len(engine.store.versions(CASE, 0, 99)) == 1
    assert engine.store.known(CASE, [stale.versions[0].contents[0].id]) == set()
    assert engine.store.snapshot(CASE, 99) is None


def test_a_line_does_not_begin_in_the_middle(engine: Engine) -> None:
    assert engine.store.commit([commit(CASE, Head(4, made_id("ver", "one", 4)))]) == [False]
    assert engine.store.heads([CASE]) == {}
    assert engine.store.cases(None) == []


def test_one_lost_commit_does_not_harm_its_neighbours(engine: Engine) -> None:
    engine.store.commit([commit("acme/b", GENESIS)])
    batch = [commit(f"acme/{name}", GENESIS, writer="two") for name in "abc"]
    assert engine.store.commit(batch) == [True, False, True]
    assert engine.store.heads(["acme/a", "acme/b", "acme/c"]) == {
        "acme/a": head_after(batch[0]),
        "acme/b": Head(1, made_id("ver", "one", 1)),
        "acme/c": head_after(batch[2]),
    }
    assert engine.store.commit([]) == []


def test_commits_of_one_case_in_one_call_follow_each_other(engine: Engine) -> None:
    first = commit(CASE, GENESIS)
    second = commit(CASE, head_after(first))
    stale = commit(CASE, GENESIS, writer="two")
    assert engine.store.commit([first, second, stale]) == [True, True, False]
    assert engine.store.heads([CASE]) == {CASE: head_after(second)}


def test_a_repeated_commit_changes_nothing(engine: Engine) -> None:
    """I4: whether it is told apart from the first or not."""
    first = commit(CASE, GENESIS, snapshot=Snapshot(1, b"at 1"))
    second = commit(CASE, head_after(first))
    engine.store.commit([first, second])
    before = engine.store.sizes()
    engine.store.commit([first, second, first])
    assert engine.store.heads([CASE]) == {CASE: head_after(second)}
    assert engine.store.row(CASE) == second.row
    assert [row.number for row in engine.store.cases(None)] == [2]
    assert engine.store.sizes() == before


@pytest.mark.parametrize(
    "wrong",
    [
        commit(CASE, GENESIS, [version(2)]),
        commit(CASE, GENESIS, [version(1), version(3)]),
        commit(CASE, GENESIS)._replace(versions=[]),
        commit(CASE, GENESIS, number=2),
        commit(CASE, GENESIS, id="ver_other"),
        commit(CASE, GENESIS, key="acme/other"),
        commit("acme-corp/host", GENESIS, tenant="acme"),
        commit(CASE, GENESIS, snapshot=Snapshot(2, b"")),
    ],
)
def test_a_commit_that_is_no_move_of_a_head_is_refused(engine: Engine, wrong: Commit) -> None:
    """I5, I8: no gap, and no row of another case or tenant."""
    with pytest.raises(UsageError):
        engine.store.commit([commit("acme/good", GENESIS), wrong])
    assert engine.store.cases(None) == []


def test_a_content_stays_with_the_version_that_brought_it(engine: Engine) -> None:
    first = commit(CASE, GENESIS, [version(1, contents=[content("x")])])
    second = commit(CASE, head_after(first), [version(2, contents=[content("x"), content("y")])])
    assert engine.store.commit([first, second]) == [True, True]
    ids = [content("x").id, content("y").id]
    assert engine.store.content_numbers(CASE, ids) == {ids[0]: 1, ids[1]: 2}
    assert engine.store.contents(CASE, ids) == dict([content("x"), content("y")])


def test_contents_belong_to_their_case(engine: Engine) -> None:
    """I8: another case, of another tenant or not, neither knows nor shows them."""
    engine.store.commit([commit("acme/host", GENESIS), commit("acme-corp/host", GENESIS, writer="two")])
    identifier = content("one", 1).id
    assert engine.store.known("acme/host", [identifier]) == {identifier}
    assert engine.store.known("acme-corp/host", [identifier]) == set()
    assert engine.store.contents("acme-corp/host", [identifier]) == {}


def test_the_newest_snapshot_at_or_below(engine: Engine) -> None:
    head = GENESIS
    for number in range(1, 11):
        snapshot = Snapshot(number, b"at %d" % number) if number % 4 == 0 else None
        one = commit(CASE, head, snapshot=snapshot)
        assert engine.store.commit([one]) == [True]
        head = head_after(one)
    found = [engine.store.snapshot(CASE, number) for number in (3, 4, 7, 8, 10, 99)]
    assert [one and one.number for one in found] == [None, 4, 4, 8, 8, 8]
    assert found[-1] == Snapshot(8, b"at 8")


def test_many_cases_and_many_contents_at_once(engine: Engine) -> None:
    cases = [f"acme/host:{number}" for number in range(1_500)]
    assert engine.store.commit([commit(case, GENESIS) for case in cases]) == [True] * 1_500
    assert set(engine.store.heads([*cases, "acme/none"])) == set(cases)
    many = [content("many", number) for number in range(50_000)]
    one = commit(CASE, GENESIS, [version(n + 1, contents=many[n * 500 : n * 500 + 500]) for n in range(100)])
    assert engine.store.commit([one]) == [True]
    strangers = [made_id("inp", "stranger", number) for number in range(50_000)]
    ids = [each.id for each in many]
    assert engine.store.known(CASE, ids + strangers) == set(ids)
    assert engine.store.contents(CASE, ids[::7]) == dict(many[::7])


def test_two_writers_racing_on_one_head_make_one_line(adapter: Adapter, engine: Engine) -> None:
    """I5: no fork, no loss, no gap."""
    count = 150
    writers = [start(adapter, "race", name, count) for name in ("left", "right")]
    for writer in writers:
        assert said(writer) == {"ready": True}
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        assert said(writer)["lost"] >= 0
        assert writer.wait() == 0
    line = engine.store.versions(CASE, 0, 10 * count)
    assert [one.number for one in line] == list(range(1, 2 * count + 1))
    assert {one.record.rpartition(b" ")[0] for one in line} == {
        b"record %s %d" % (name, turn) for name in (b"left", b"right") for turn in range(count)
    }
    assert engine.store.heads([CASE]) == {CASE: Head(2 * count, line[-1].id)}
    assert engine.store.row(CASE) == row(CASE, 2 * count, line[-1].id)


def test_two_writers_appending_lose_nothing(adapter: Adapter, engine: Engine) -> None:
    engine.log.create_topic(TOPIC, 1)
    writers = [start(adapter, "append", name, 150) for name in ("left", "right")]
    for writer in writers:
        assert said(writer) == {"ready": True}
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        assert said(writer) == {"done": True}
        assert writer.wait() == 0
    found = engine.log.read(TopicPartition(TOPIC, 0), 0, 1_000)
    for name in ("acme/left", "acme/right"):
        assert [int(record.value) for record in found if record.key == name] == list(range(150))
    assert [record.offset for record in found] == list(range(300))


def test_many_cases_are_asked_at_once(engine: Engine) -> None:
    others = [f"acme/host:{number}" for number in range(30)]
    brought = {}
    for case in others[:20]:
        one = commit(case, GENESIS, [version(1, writer=case)])
        engine.store.commit([one])
        brought[case] = one.versions[0].contents[0].id
    every = sorted(brought.values())
    found = engine.store.known_by_case(dict.fromkeys(others, every))
    assert found == {case: {brought[case]} if case in brought else set() for case in others}
    assert engine.store.known_by_case({}) == {}


def test_a_dropped_case_is_gone_and_can_begin_anew(engine: Engine) -> None:
    store = engine.store
    neighbour = "acme/host:10.0.0.50"
    first = commit(CASE, GENESIS, snapshot=Snapshot(1, b"at 1"))
    assert store.commit([first, commit(neighbour, GENESIS, writer="two")]) == [True, True]
    store.move_published([Move(CASE, 0, 1, {1: 7})])
    store.drop([CASE, "acme/never"])
    assert store.heads([CASE, neighbour]).keys() == {neighbour}
    assert (store.row(CASE), store.snapshot(CASE, 9), store.versions(CASE, 1, 9)) == (None, None, [])
    assert store.known(CASE, [first.versions[0].contents[0].id]) == set()
    assert (store.published([CASE]), store.places(CASE, [1])) == ({CASE: 0}, {})
    assert [row.key for row in store.cases(None)] == [neighbour]
    assert (store.count(None), list(store.unpublished(9))) == (1, [neighbour])
    assert store.commit([commit(CASE, GENESIS, writer="another")]) == [True]
