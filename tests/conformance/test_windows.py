"""StateStore: parts, manifests and notes."""

from __future__ import annotations

import pytest

from engines.engine import Engine
from engines.store import Manifest
from schemas.errors import EngineError

OWNER = "detectors/observations/3"
ALL_BYTES = bytes(range(256))


def test_parts_come_back_and_can_be_dropped(engine: Engine) -> None:
    store = engine.store
    bodies = {"a": ALL_BYTES, "b": b"", "c": ALL_BYTES * 5_000}
    for part, body in bodies.items():
        store.put_part(OWNER, part, body)
    store.put_part("other", "a", b"its own")
    assert sorted(store.parts(OWNER)) == ["a", "b", "c"]
    assert {part: store.part(OWNER, part) for part in bodies} == bodies
    store.drop_parts(OWNER, ["a", "c", "never there"])
    assert store.parts(OWNER) == ["b"]
    assert store.part(OWNER, "a") is None
    assert store.part("other", "a") == b"its own"


def test_a_part_never_changes(engine: Engine) -> None:
    engine.store.put_part(OWNER, "a", b"first")
    engine.store.put_part(OWNER, "a", b"first")
    with pytest.raises(EngineError):
        engine.store.put_part(OWNER, "a", b"second")
    assert engine.store.part(OWNER, "a") == b"first"


def test_a_manifest_moves_forward_only(engine: Engine) -> None:
    store = engine.store
    assert store.manifest(OWNER) is None
    first = Manifest(3, 100, ALL_BYTES)
    assert store.move_manifest(OWNER, None, first)
    assert not store.move_manifest(OWNER, None, first)
    assert store.manifest(OWNER) == first
    later = Manifest(3, 200, b"later")
    assert store.move_manifest(OWNER, first, later)
    assert not store.move_manifest(OWNER, later, Manifest(3, 199, b"back"))
    assert not store.move_manifest(OWNER, later, Manifest(2, 900, b"older owner"))
    assert store.move_manifest(OWNER, later, Manifest(3, 200, b"the same place"))
    assert store.move_manifest(OWNER, later, Manifest(4, 150, b"next owner, rewound"))


def test_a_zombie_cannot_put_an_old_manifest_back(engine: Engine) -> None:
    """I5: an owner that was replaced has read the manifest before its heir moved it."""
    store = engine.store
    store.move_manifest(OWNER, None, Manifest(3, 100, b"zombie's"))
    seen = store.manifest(OWNER)
    assert store.move_manifest(OWNER, seen, Manifest(4, 100, b"heir's"))
    assert not store.move_manifest(OWNER, seen, Manifest(3, 500, b"zombie's again"))
    assert store.manifest(OWNER) == Manifest(4, 100, b"heir's")


def test_manifests_and_notes_by_prefix(engine: Engine) -> None:
    store = engine.store
    for name in ("acme/1", "acme/2", "acme-corp/1", "acm", "acmf", "acme/ü", "zeta%", "zeta_"):
        assert store.move_manifest(name, None, Manifest(1, 1, name.encode()))
        assert store.move_note(name, None, name.encode())
    for prefix, names in {
        "acme/": {"acme/1", "acme/2", "acme/ü"},
        "acme": {"acme/1", "acme/2", "acme/ü", "acme-corp/1"},
        "zeta_": {"zeta_"},
        "b": set(),
    }.items():
        assert store.manifests(prefix) == {name: Manifest(1, 1, name.encode()) for name in names}
        assert store.notes(prefix) == {name: name.encode() for name in names}
    assert len(store.notes("")) == 8


def test_notes_move_by_compare_and_swap(engine: Engine) -> None:
    store = engine.store
    assert store.note("feed/a") is None
    assert not store.move_note("feed/a", b"something", b"x")
    assert store.move_note("feed/a", None, ALL_BYTES)
    assert not store.move_note("feed/a", None, b"again")
    assert store.note("feed/a") == ALL_BYTES
    assert store.move_note("feed/a", ALL_BYTES, b"")
    assert store.note("feed/a") == b""
    assert not store.move_note("feed/a", None, b"empty is not missing")
    assert store.move_note("feed/a", b"", None)
    assert store.note("feed/a") is None
    assert store.move_note("feed/a", None, None)


def test_notes_by_page(engine: Engine) -> None:
    store = engine.store
    keys = [f"feed/{number:03}" for number in range(25)]
    for key in ("a", "feed", *keys, "feeds/1", "z"):
        assert store.move_note(key, None, key.encode())
    assert list(store.notes("feed/")) == keys
    found: list[str] = []
    after = ""
    while page := store.notes("feed/", after=after, limit=7):
        assert len(page) <= 7
        found += page
        after = max(page)
    assert found == keys
    assert list(store.notes("feed/", after="feed/0165")) == keys[17:]
    assert list(store.notes("feed/", after="z")) == []
    assert list(store.notes("", limit=2)) == ["a", "feed"]


def test_an_owner_is_forgotten_with_its_parts(engine: Engine) -> None:
    store = engine.store
    for owner in (OWNER, "detectors/observations/30"):
        store.put_part(owner, "a", b"1")
        store.put_part(owner, "b", b"2")
        assert store.move_manifest(owner, None, Manifest(1, 5, b""))
    assert store.forget_owner(OWNER) == 2
    assert store.forget_owner(OWNER) == 0
    assert (store.manifest(OWNER), list(store.parts(OWNER))) == (None, [])
    assert list(store.parts("detectors/observations/30")) == ["a", "b"]
    assert list(store.manifests("detectors/")) == ["detectors/observations/30"]
    assert store.move_manifest(OWNER, None, Manifest(1, 1, b"again"))
