"""Random work on both stores at once: whatever is done, each answers what the other does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines.redis import RedisStore
from engines.sqlite import open_engine
from engines.store import Head, Manifest, Move, Prune, Snapshot, StateStore, StoredContent
from schemas.errors import CasetapeError
from tests.conformance.lines import GENESIS, commit, content, made_id, version

pytestmark = pytest.mark.needs_services

CASES = [f"{tenant}/host:{number}" for tenant in ("acme", "acme-corp", "z") for number in range(2)]
NAMES = 60
Work = Callable[[StateStore], object]


class Chance:
    """What is done next; `told` is a store that says how things stand."""

    def __init__(self, seed: int, told: StateStore) -> None:
        self._draw = random.Random(seed)
        self._told = told

    def steps(self, count: int) -> Iterator[tuple[str, Work]]:
        """Each with the case that it is about."""
        for _ in range(count):
            case = self._draw.choice(CASES)
            makers = (self._commit, self._publish, self._prune, self._drop, self._note, self._manifest)
            (make,) = self._draw.choices(makers, (50, 20, 15, 2, 6, 7))
            yield case, make(case)

    def _commit(self, case: str) -> Work:
        draw, head = self._draw, self._told.heads([case]).get(case, GENESIS)
        if draw.random() < 0.15:
            head = Head(max(0, head.number + draw.choice([-1, 1])), made_id("ver", draw.random()))
        writer = str(draw.random())
        versions = [
            version(number, writer=writer, contents=self._contents(case))
            for number in range(head.number + 1, head.number + 1 + draw.choice([1, 1, 2, 5]))
        ]
        snapshot = Snapshot(versions[-1].number, bytes(draw.randrange(400))) if draw.random() < 0.4 else None
        score, updated_at = draw.randrange(5), draw.randrange(4)
        one = commit(case, head, versions, snapshot=snapshot, score=score, updated_at=updated_at)
        return lambda store: list(store.commit([one]))

    def _contents(self, case: str) -> list[StoredContent]:
        return [content(case, name) for name in self._draw.sample(range(NAMES), self._draw.randrange(3))]

    def _publish(self, case: str) -> Work:
        mark = self._told.published([case])[case] + self._draw.choice([0, 0, 0, 1])
        head = self._told.heads([case]).get(case, GENESIS).number
        last = max(mark + 1, min(head, mark + self._draw.randrange(1, 6)))
        places = {number: 7 * number for number in range(mark + 1, last + 1, 2)}
        return lambda store: list(store.move_published([Move(case, mark, last, places)]))

    def _prune(self, case: str) -> Work:
        told, draw = self._told, self._draw
        below, mark = told.pruned([case])[case], told.published([case])[case]
        snapshot = told.snapshot(case, mark)
        number = mark if snapshot is None or draw.random() < 0.1 else snapshot.number
        kept = told.contents(case, ids(case))
        numbers = told.content_numbers(case, list(kept))
        keep = [one for one, brought in sorted(numbers.items()) if brought <= number and draw.random() < 0.5]
        going = [one for one in range(1, number) if draw.random() < 0.3]
        one = Prune(case, below + draw.choice([0, 0, 0, 1]), number, keep, going, {number: number})
        return lambda store: list(store.prune([one]))

    def _drop(self, case: str) -> Work:
        return lambda store: store.drop([case])

    def _note(self, _: str) -> Work:
        key = f"kind/{self._draw.randrange(4)}"
        before = self._draw.choice([self._told.note(key), None, b"x"])
        after = self._draw.choice([None, b"x", b"", b"more"])
        return lambda store: store.move_note(key, before, after)

    def _manifest(self, _: str) -> Work:
        owner = f"owner/{self._draw.randrange(3)}"
        before = self._draw.choice([self._told.manifest(owner), None])
        after = Manifest(self._draw.randrange(3), self._draw.randrange(3), b"body")
        return lambda store: store.move_manifest(owner, before, after)


def ids(case: str) -> list[str]:
    return [content(case, name).id for name in range(NAMES)]


def answer(store: StateStore, work: Work) -> object:
    """What it answers, or how it refuses."""
    try:
        return work(store)
    except CasetapeError as error:
        return type(error)


def seen(store: StateStore, case: str) -> tuple[object, ...]:
    """Everything that can be seen of a case and of the whole; bytes of versions differ, they are kept differently."""
    sizes = store.sizes()
    return (
        (store.heads(CASES), store.published(CASES), store.pruned(CASES), sorted(store.unpublished(99))),
        (store.row(case), list(store.versions(case, 0, 999)), store.places(case, range(99))),
        [store.snapshot(case, number) for number in (3, 9, 99)],
        (store.contents(case, ids(case)), store.content_numbers(case, ids(case))),
        (list(store.cases(None)), list(store.cases("acme", order="updated", limit=2)), store.count("acme")),
        (sizes.cases, sizes.versions.count, sizes.pruned, sizes.contents, sizes.remains, sizes.snapshots),
        (store.notes("kind/"), store.manifests("owner")),
    )


@pytest.mark.parametrize("seed", range(3))
def test_both_stores_answer_the_same(store: RedisStore, tmp_path: Path, seed: int) -> None:
    with open_engine(tmp_path) as embedded:
        for case, work in Chance(seed, embedded.store).steps(200):
            assert answer(store, work) == answer(embedded.store, work)
            assert seen(store, case) == seen(embedded.store, case)
        assert embedded.store.sizes().pruned > 0
