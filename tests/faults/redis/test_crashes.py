"""A process that dies between the steps of a commit or of a mark leaves nothing that the outbox does not heal."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import redis

from engines.redis import RedisStore, delete_all
from engines.redis.cases import Cases
from engines.redis.index import Index
from engines.redis.keys import patterns
from engines.redis.options import RedisOptions
from engines.store import Manifest, Move, Prune, Snapshot
from tests.conformance.lines import CASE, GENESIS, commit, head_after
from tests.faults.redis.conftest import Opens
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.needs_services


class Died(Exception):
    """In place of the end of a process."""


def dying(monkeypatch: pytest.MonkeyPatch, where: type, name: str, act: Callable[[], object]) -> None:
    """Runs `act`, which dies where this method is about to run."""

    def dies(*_: object) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(where, name, dies)
        with pytest.raises(Died):
            act()


def test_a_committer_that_dies_before_the_index_has_it(
    store: RedisStore, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(CASE, GENESIS, score=5)
    dying(monkeypatch, Index, "put", lambda: store.commit([first]))
    other = opens()
    assert other.row(CASE) == first.row
    assert other.unpublished(9) == [CASE]
    assert other.cases("acme") == [first.row]
    second = commit(CASE, head_after(first), score=7)
    dying(monkeypatch, Index, "put", lambda: store.commit([second]))
    assert other.move_published([Move(CASE, 0, 2)]) == [True], "who publishes sees to it as well"
    assert other.cases("acme") == [second.row]


def test_a_committer_that_dies_before_its_swap(
    server: RedisServer, store: RedisStore, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(CASE, GENESIS)
    dying(monkeypatch, RedisStore, "_call", lambda: store.commit([first]))
    other = opens()
    assert (other.unpublished(9), other.cases(None), other.count(None)) == ([], [], 0)
    assert other.commit([first]) == [True]
    assert other.move_published([Move(CASE, 0, 1)]) == [True]
    with redis.Redis(port=server.port) as client:
        assert not client.exists("faults:{:store}:pending")


def test_a_publisher_that_dies_after_the_mark(
    server: RedisServer, store: RedisStore, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit([commit(CASE, GENESIS)])
    dying(monkeypatch, Cases, "_unmark", lambda: store.move_published([Move(CASE, 0, 1)]))
    assert opens().unpublished(9) == []
    with redis.Redis(port=server.port) as client:
        assert not client.exists("faults:{:store}:pending")


def test_one_that_commits_while_another_publishes_stays_pending(store: RedisStore, opens: Opens) -> None:
    first = commit(CASE, GENESIS)
    store.commit([first])
    opens().commit([commit(CASE, head_after(first))])
    assert store.move_published([Move(CASE, 0, 1)]) == [True]
    assert store.unpublished(9) == [CASE]


def test_many_that_died_hide_nobody(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [commit(f"acme/{number}", GENESIS) for number in range(1_200)]
    dying(monkeypatch, RedisStore, "_call", lambda: store.commit(left))
    first = commit(CASE, GENESIS)
    store.commit([first, commit(CASE, head_after(first))])
    assert store.unpublished(1) == [CASE]


def test_whoever_makes_it_anew_finds_every_case(
    server: RedisServer, store: RedisStore, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a committer died, or the part of a cluster that had the index is empty."""
    dying(monkeypatch, Index, "put", lambda: store.commit([commit(CASE, GENESIS)]))
    store.commit([commit("acme/other", GENESIS)])
    with redis.Redis(port=server.port) as client:
        client.delete(*(key for key in client.keys("*") if b"/" not in key))
    maker = opens()
    maker.refuse("under way")
    found = [row.key for row in maker.cases(None, order="key")]
    assert found == [CASE, "acme/other"]
    maker.drop(found)
    with redis.Redis(port=server.port) as client:
        assert {key.decode() for key in client.keys("*")} == {"faults:{:store}:about", "faults:{:store}:tenants"}


def test_every_key_has_a_name(server: RedisServer, store: RedisStore) -> None:
    """And all go with the prefix, and no other prefix with it."""
    first = commit(CASE, GENESIS, snapshot=Snapshot(1, b"at 1"))
    store.commit([first, commit(CASE, head_after(first)), commit("acme/odd{}:%C3%A9", GENESIS)])
    store.move_published([Move(CASE, 0, 2, {1: 1, 2: 2})])
    store.prune([Prune(CASE, 0, 1, [first.versions[0].contents[0].id], [], {})])
    store.put_part("owner/{odd}/é", "part", b"body")
    store.move_manifest("owner/{odd}/é", None, Manifest(1, 1, b""))
    store.move_note("a note/{odd}", None, b"")
    with redis.Redis(port=server.port) as client:
        client.set("faults-too:x", 1)
        found = {key.decode() for key in client.keys("faults:*")}
        strange = {key for key in found if not any(re.fullmatch(one, key) for one in patterns("faults"))}
        assert strange == set()
        assert len(found) > 20
        lasting = {key for key in found if client.ttl(key) < 0}
        assert all(":answer:" in key for key in found - lasting)
        assert not any(":answer:" in key for key in lasting)
        delete_all(RedisOptions(server.url, prefix="faults"))
        assert client.keys("*") == [b"faults-too:x"]
