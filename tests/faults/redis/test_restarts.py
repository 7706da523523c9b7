"""Redis that is killed, restarted, silent, or that forgets its scripts; and answers that do not arrive."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
import redis

from engines.redis import RedisStore
from engines.redis.connection import Call, Link
from engines.store import Head, Manifest, Move, Prune, Snapshot
from schemas.errors import EngineUnavailable, StorageFull
from tests.conformance.lines import CASE, GENESIS, commit, head_after
from tests.faults.redis.conftest import Opens
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.needs_services


def test_what_was_acknowledged_outlives_kills(server: RedisServer, store: RedisStore) -> None:
    """I5: the open store goes on by itself, and every acknowledged version is there, once."""
    killed, acknowledged = threading.Event(), list[Head]()

    def killer() -> None:
        try:
            for enough in (20, 40, 60):
                while len(acknowledged) < enough:
                    time.sleep(0.001)
                server.kill()
                server.start()
        finally:
            killed.set()

    thread = threading.Thread(target=killer)
    thread.start()
    head = GENESIS
    while not killed.is_set():
        one = commit(CASE, head, writer=f"turn {len(acknowledged)}")
        assert store.commit([one]) == [True]
        head = head_after(one)
        acknowledged.append(head)
    thread.join()
    assert len(acknowledged) >= 60
    assert store.heads([CASE]) == {CASE: head}
    assert [(one.number, one.id) for one in store.versions(CASE, 0, 10**6)] == acknowledged


def test_scripts_that_are_forgotten_are_loaded_again(server: RedisServer, store: RedisStore) -> None:
    first = commit(CASE, GENESIS)
    with redis.Redis(port=server.port) as client:
        client.script_flush()
    assert store.commit([first, commit("acme/other", GENESIS)]) == [True, True]
    server.stop()
    server.start()
    assert store.commit([commit(CASE, head_after(first))]) == [True]
    assert [one.number for one in store.cases("acme", order="key")] == [2, 1]


def test_a_silent_server_is_given_up_in_time(server: RedisServer, opens: Opens) -> None:
    store = opens(answer_seconds=1.5)
    server.send(signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(EngineUnavailable, match=rf"127.0.0.1:{server.port} does not answer"):
        store.commit([commit(CASE, GENESIS)])
    assert time.monotonic() - began < 2.0
    server.send(signal.SIGCONT)
    assert store.commit([commit(CASE, GENESIS)]) == [True], "it answers again"


def test_a_dead_server_is_given_up_in_time(server: RedisServer, opens: Opens) -> None:
    store = opens(answer_seconds=1.5)
    server.kill()
    began = time.monotonic()
    with pytest.raises(EngineUnavailable, match=r"Start it, or correct `redis.url`"):
        store.heads([CASE])
    assert time.monotonic() - began < 2.0


def test_a_full_server_is_told_of(server: RedisServer, store: RedisStore) -> None:
    """And nothing of the commit is there."""
    with redis.Redis(port=server.port) as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StorageFull, match=rf"127.0.0.1:{server.port} has no room"):
            store.commit([commit(CASE, GENESIS)])
        assert store.heads([CASE]) == {}
        client.config_set("maxmemory", 0)
    assert store.commit([commit(CASE, GENESIS)]) == [True]


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of every call that writes the first answer is lost."""
    send, lost = Link._send, []

    def once(self: Link, calls: Sequence[Call]) -> list[Any]:
        answers = send(self, calls)
        what = str(calls)
        if what not in lost and not any(isinstance(one, Exception) for one in answers):
            lost.append(what)
            raise redis.ConnectionError("the answer is lost")
        return answers

    monkeypatch.setattr(Link, "_send", once)
    return lost


def test_an_answer_that_is_lost_is_asked_for_again(store: RedisStore, opens: Opens, deaf: list[str]) -> None:
    """What the first call did counts as done, and nobody else's move is taken for one's own."""
    first = commit(CASE, GENESIS, snapshot=Snapshot(1, b"at 1"))
    second = commit(CASE, head_after(first))
    assert store.commit([first, second]) == [True, True]
    assert store.row(CASE) == second.row
    # False may say that it had been moved already
    assert store.move_published([Move(CASE, 0, 2)]) == [False]
    assert store.published([CASE]) == {CASE: 2}
    assert store.prune([Prune(CASE, 0, 1, [], [], {})]) == [True]
    assert store.prune([Prune(CASE, 0, 1, [], [], {})]) == [False]
    assert store.move_note("a/b", None, b"mine")
    assert not opens().move_note("a/b", None, b"mine"), "another's note, though it says the same"
    assert store.move_note("a/b", b"mine", b"next")
    assert store.move_note("a/b", b"next", None)
    one = Manifest(1, 1, b"")
    assert store.move_manifest("owner", None, one)
    assert not opens().move_manifest("owner", None, one)
    assert store.begin("first")
    store.put_part("owner", "part", b"body")
    assert len(deaf) > 10
