"""The seen filter is exact: it says what a set would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.scales import DAY
from workers.detection import seen
from workers.detection.seen import ID_BYTES, SeenFilter, stored

PREFIXES = [b"\0" * 8, b"\0" * 7 + b"\1", b"\xff" * 8, b"\x80" + b"\0" * 7]
ids = st.builds(
    lambda prefix, rest: prefix + bytes([rest]) * (ID_BYTES - 9) + bytes([rest % 3]),
    st.sampled_from(PREFIXES),
    st.integers(0, 5),
)
"""Few prefixes, so that nearly all of them collide."""


class Store:
    """Where parts lie."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}
        self.made = 0

    def seal(self, one: SeenFilter) -> None:
        self.made += 1
        made, replaced = one.seal(f"{self.made}")
        if made is not None:
            assert made.ids is not None
            self.parts[made.name] = made.ids
            made.ids = None
        for segment in replaced:
            del self.parts[segment.name]

    def reloaded(self, one: SeenFilter) -> SeenFilter:
        again = SeenFilter(self.parts.__getitem__)
        again.segments = [stored(old.name, self.parts[old.name], old.newest) for old in one.segments]
        return again


@given(st.lists(st.tuples(st.lists(ids, max_size=12), st.booleans(), st.booleans()), max_size=12))
def test_it_says_what_a_set_says(batches: list[tuple[list[bytes], bool, bool]]) -> None:
    store, known = Store(), set[bytes]()
    one = SeenFilter(store.parts.__getitem__)
    for batch, seals, reloads in batches:
        expected = []
        for identifier in batch:
            expected.append(identifier not in known)
            known.add(identifier)
        assert one.new(batch) == expected
        assert len(one) == len(known)
        if seals or reloads:
            store.seal(one)
        if reloads:
            one = store.reloaded(one)
    assert set(store.parts) == {segment.name for segment in one.segments}


def numbered(start: int, count: int) -> list[bytes]:
    return [(n * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8) + n.to_bytes(24) for n in range(start, start + count)]


def test_there_are_few_segments_however_often_it_is_sealed() -> None:
    store = Store()
    one = SeenFilter(store.parts.__getitem__)
    for n in range(200):
        one.saw(n)
        assert all(one.new(numbered(10 * n, 10)))
        store.seal(one)
    assert len(one.segments) < 8
    assert not any(one.new(numbered(0, 2_000)))
    assert len(one) == 2_000


def test_a_segment_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_MOST", 100)
    store = Store()
    one = SeenFilter(store.parts.__getitem__)
    for n in range(50):
        one.new(numbered(10 * n, 10))
        store.seal(one)
    assert 50 < max(len(segment.prefixes) for segment in one.segments) <= 100
    assert not any(one.new(numbered(0, 500)))


def test_it_forgets_whole_days_and_holds_few_whole_segments() -> None:
    store = Store()
    one = SeenFilter(store.parts.__getitem__)
    for day in range(20):
        one.saw(day * DAY + day)
        one.new(numbered(100 * day, 100))
        store.seal(one)
        one.forget((day - 7) * DAY)
    assert len(one) == 100 * 8
    assert one.new(numbered(1_300, 1)) == [False]
    assert one.new(numbered(1_100, 1)) == [True]
    assert not any(one.new(numbered(1_200, 800)))
    assert sum(segment.ids is not None for segment in one.segments) <= 2


def test_nothing_is_nothing() -> None:
    store = Store()
    one = SeenFilter(store.parts.__getitem__)
    assert one.new([]) == []
    assert one.seal("a") == (None, [])
    one.new(numbered(0, 1))
    store.seal(one)
    assert one.new([]) == []
