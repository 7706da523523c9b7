"""Letting go of old versions: what the tape has for good leaves the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.failpoints import fail_point
from engines.redis import forms
from engines.redis.cases import Cases
from engines.redis.connection import Argument, token
from engines.redis.keys import ANSWERED
from engines.redis.part import chunks, text
from engines.store import Prune
from schemas.errors import EngineError, UsageError

_KEYS = ("head", "versions", "brought", "remains", "snapshots", "snapshotted", "places")
_SHORT = 64


class Pruning(Cases):
    """The part of the store about what it no longer keeps."""

    def places(self, case: str, numbers: Sequence[int]) -> Mapping[int, int]:
        pieces = list(chunks(numbers))
        answers = self._watch.ask([("HMGET", self._keys.of_case(case, "places"), *some) for some in pieces])
        return {
            number: int(offset)
            for some, offsets in zip(pieces, answers, strict=True)
            for number, offset in zip(some, offsets, strict=True)
            if offset is not None
        }

    def pruned(self, cases: Sequence[str]) -> Mapping[str, int]:
        return self._marks(cases, "pruned")

    def prunable(self, versions: int, limit: int) -> Sequence[str]:
        least = max(versions, _SHORT)
        keys = [self._keys.of_tenant(tenant, "long") for tenant in self._tenants()]
        answers = self._watch.ask([("ZREVRANGEBYSCORE", key, "inf", f"({least}", "LIMIT", 0, limit) for key in keys])
        cases = [text(case) for page in answers for case in page]
        heads = self._watch.ask([("HMGET", self._keys.of_case(case, "head"), "published", "pruned") for case in cases])
        lengths = {case: int(mark or 0) - int(pruned or 0) for case, (mark, pruned) in zip(cases, heads, strict=True)}
        # the index may say what was true a moment ago
        return sorted((case for case in cases if lengths[case] > least), key=lambda case: -lengths[case])[:limit]

    def prune(self, prunes: Sequence[Prune]) -> Sequence[bool]:
        if not prunes:
            return []
        self._check(prunes)
        return [self._prune(one) for one in prunes]

    def _check(self, prunes: Sequence[Prune]) -> None:
        """Raises UsageError, before anything is removed, where one of them would lose something."""
        heads = self._watch.ask(
            [("HMGET", self._keys.of_case(one.case, "head"), "number", "published", "pruned") for one in prunes]
        )
        bases = self._watch.ask([("ZSCORE", self._keys.of_case(one.case, "snapshotted"), one.number) for one in prunes])
        pruned: dict[str, int] = {}
        for one, fields, base in zip(prunes, heads, bases, strict=True):
            head, mark, below = (int(field or 0) for field in fields)
            if pruned.get(one.case, below) != one.expected or not head:
                continue
            if not one.expected < one.number <= mark or one.number >= head:
                raise _no_move(one, mark, head)
            if base is None or one.number in one.snapshots:
                raise UsageError(f"`{one.case}` has no snapshot at {one.number} to stand on")
            pruned[one.case] = one.number

    def _prune(self, one: Prune) -> bool:
        keep = {forms.short(identifier): identifier for identifier in one.keep}
        fresh = [what for pair in self._remaining(one, keep).items() for what in pair]
        places = [what for pair in one.places.items() for what in pair]
        counts = (len(keep), len(fresh) // 2, len(one.snapshots), len(one.places))
        arguments: list[Argument] = [one.expected, one.number, ANSWERED, *counts]
        arguments += [*keep, *fresh, *one.snapshots, *places]
        keys = [self._keys.of_case(one.case, what) for what in (*_KEYS, f"answer:{token()}")]
        fail_point("store.pruning")
        answer, *rest = self._watch.one(*self._link.script("prune", keys, arguments))
        if answer == -1:
            raise EngineError(f"`{one.case}` lacks contents that are to stay: run `casetape cases verify {one.case}`")
        if answer < -1:
            raise _no_move(one, *rest)
        if answer:
            head = self.heads([one.case]).get(one.case)
            self._index.follow({one.case: (0 if head is None else head.number, rest[0])})
        return bool(answer)

    def _remaining(self, one: Prune, keep: Mapping[bytes, str]) -> dict[bytes, bytes]:
        """Of what is to stay that which the versions that go have brought, as blobs: these never change, so that there
        is time to read them."""
        going = {
            identifier: number
            for identifier, number in self.content_numbers(one.case, list(one.keep)).items()
            if one.expected < number <= one.number
        }
        found: dict[bytes, bytes] = {}
        for some in chunks(sorted(set(going.values()))):
            for kept in self._watch.one("HMGET", self._keys.of_case(one.case, "brought"), *some):
                if kept is not None:
                    bodies = forms.read_brought(kept)
                    found.update((forms.short(each), forms.blob(bodies[each])) for each in bodies.keys() & going.keys())
        return found


def _no_move(one: Prune, mark: int, head: int) -> UsageError:
    return UsageError(
        f"`{one.case}` cannot be pruned from {one.expected} to {one.number}: its mark is {mark}, its head {head}"
    )
