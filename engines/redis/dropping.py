"""Letting go of whole cases, for a store that is made anew."""

from __future__ import annotations

from collections.abc import Sequence

from engines.redis.cases import Cases
from engines.redis.part import chunks


class Dropping(Cases):
    """The part of the store about dropping cases."""

    def drop(self, cases: Sequence[str]) -> None:
        self._watch.ask([("UNLINK", *self._keys.all_of_case(case)) for case in cases])
        self._link.ask([("ZREM", self._keys.pending, *some) for some in chunks(cases)])
        # the index last: whoever looks there for what is left to drop finds it until then
        self._index.drop(cases)
