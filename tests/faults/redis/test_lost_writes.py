"""I1: a store that lost writes it had acknowledged is noticed, and refused until it is made anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
import redis

from engines.redis import RedisStore
from engines.redis.versions import Versions
from engines.store import Move
from schemas.errors import EngineError, StoreBehind
from tests.conformance.lines import CASE, GENESIS, commit, head_after, made_id
from tests.faults.redis.conftest import Opens
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.needs_services

CALLS: dict[str, Callable[[RedisStore], object]] = {
    "heads": lambda store: store.heads([CASE]),
    "commit": lambda store: store.commit([commit(CASE, GENESIS, writer="late")]),
    "known": lambda store: store.known_by_case({CASE: [made_id("inp", 1)]}),
    "published": lambda store: store.published([CASE]),
    "move_published": lambda store: store.move_published([Move(CASE, 0, 1)]),
    "unpublished": lambda store: store.unpublished(9),
    "cases": lambda store: store.cases(None),
}


@pytest.fixture
def wipe(server: RedisServer) -> Callable[[], object]:
    """Empties the server."""

    def flush() -> None:
        with redis.Redis(port=server.port) as client:
            client.flushall()

    return flush


def keys(server: RedisServer) -> set[bytes]:
    with redis.Redis(port=server.port) as client:
        return set(client.keys("*"))


@pytest.mark.parametrize("call", CALLS)
def test_a_store_that_was_emptied_is_noticed(
    server: RedisServer, store: RedisStore, opens: Opens, wipe: Callable[[], object], call: str
) -> None:
    """By whichever call comes first; and it stays refused, to everyone."""
    other = opens()
    store.commit([commit(CASE, GENESIS)])
    wipe()
    for _ in range(2):
        with pytest.raises(StoreBehind, match="was emptied while it was in use: run `casetape rebuild`"):
            CALLS[call](store)
    assert keys(server) == {b"faults:{:store}:about"}, "nothing was written but the refusal"
    for each in (other, opens()):
        assert "was emptied" in (each.refused() or "")
        with pytest.raises(StoreBehind):
            each.heads([CASE])


def test_one_that_is_emptied_between_the_look_and_the_swap(
    server: RedisServer, store: RedisStore, wipe: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case never begins a second time."""
    store.commit([commit(CASE, GENESIS)])
    mark = Versions._mark

    def then_wipe(*arguments: object) -> None:
        mark(*arguments)  # type: ignore[arg-type]  # handed on as they come
        wipe()

    monkeypatch.setattr(Versions, "_mark", then_wipe)
    with pytest.raises(StoreBehind):
        store.commit([commit(CASE, GENESIS, writer="late")])
    assert keys(server) == {b"faults:{:store}:about"}


def test_a_server_that_comes_back_from_an_older_copy(server: RedisServer, store: RedisStore, opens: Opens) -> None:
    first = commit(CASE, GENESIS)
    second = commit(CASE, head_after(first))
    store.commit([first])
    server.stop()
    shutil.copytree(server.folder / "appendonlydir", server.folder / "copy")
    server.start()
    assert store.commit([second]) == [True]
    server.stop()
    shutil.rmtree(server.folder / "appendonlydir")
    shutil.move(server.folder / "copy", server.folder / "appendonlydir")
    server.start()
    with pytest.raises(StoreBehind, match="count of commits fell from 2 to 1"):
        store.commit([commit(CASE, head_after(first), writer="late")])
    with pytest.raises(StoreBehind):
        opens().heads([CASE])


def test_making_it_anew(server: RedisServer, store: RedisStore, opens: Opens, wipe: Callable[[], object]) -> None:
    """Only who refuses it works on it meanwhile; afterwards whoever worked on the old one starts again."""
    one = commit(CASE, GENESIS)
    store.commit([one])
    wipe()
    maker = opens()
    maker.refuse("under way")
    with pytest.raises(StoreBehind, match="under way"):
        store.heads([CASE])
    assert maker.commit([one]) == [True]
    assert maker.begin("second", anew=True)
    maker.refuse(None)
    with pytest.raises(StoreBehind, match="start the process again"):
        store.commit([commit(CASE, head_after(one))])
    assert maker.refused() is None, "a process that was late does not refuse the new store"
    fresh = opens()
    assert (fresh.epoch(), fresh.heads([CASE])) == ("second", {CASE: head_after(one)})
    assert fresh.commit([commit(CASE, head_after(one))]) == [True]


def test_one_that_is_emptied_while_it_is_made_anew(
    server: RedisServer, store: RedisStore, opens: Opens, wipe: Callable[[], object]
) -> None:
    wipe()
    maker = opens()
    maker.refuse("under way")
    maker.commit([commit(CASE, GENESIS)])
    wipe()
    with pytest.raises(StoreBehind):
        maker.commit([commit("acme/other", GENESIS)])
    assert opens().refused() is not None


def test_whoever_detected_it_may_make_it_anew(store: RedisStore, wipe: Callable[[], object]) -> None:
    store.commit([commit(CASE, GENESIS)])
    wipe()
    with pytest.raises(StoreBehind):
        store.heads([CASE])
    store.refuse("under way")
    assert store.commit([commit(CASE, GENESIS)]) == [True]
    assert store.begin("second", anew=True)
    store.refuse(None)
    assert store.heads([CASE]) == {CASE: head_after(commit(CASE, GENESIS))}


def test_the_epoch_is_given_once(store: RedisStore, opens: Opens) -> None:
    assert not opens().begin("another")
    assert store.epoch() == "first"
    assert store.begin("first"), "a repeat of the call that gave it"


def test_who_was_overtaken_in_making_it_anew_can_neither_drop_nor_let_go(store: RedisStore, opens: Opens) -> None:
    """A rebuild that was frozen wakes after another has ended, and while a third is at work."""
    late = opens()
    late.refuse("the first")
    maker = opens()
    maker.refuse("the second")
    assert maker.commit([commit(CASE, GENESIS)]) == [True]
    for step in (lambda: late.drop([CASE]), lambda: late.refuse(None)):
        with pytest.raises(EngineError):
            step()
    assert not late.begin("late", anew=True)
    assert maker.begin("second", anew=True)
    maker.refuse(None)
    with pytest.raises(StoreBehind):
        late.drop([CASE])
    assert not late.begin("late", anew=True)
    fresh = opens()
    assert (fresh.epoch(), fresh.refused()) == ("second", None)
    assert CASE in fresh.heads([CASE])
