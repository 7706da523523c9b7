"""Letting go of whole cases, for a store that is made anew."""

from __future__ import annotations

from collections.abc import Sequence

from engines.redis.cases import Cases
from engines.redis.part import chunks


class Dropping(Cases):
    """The part of the store about dropping cases."""

    def drop(self, cases: Sequence[str]) -> None:
        self._drop(cases)
        self._link.ask([("ZREM", self._keys.pending, *some) for some in chunks(cases)])
        # the index last: whoever looks there for what is left to drop finds it until then
        self._index.drop(cases)

    def _drop(self, cases: Sequence[str]) -> None:
        """Unless the store is refused to us meanwhile: who was frozen while another made it anew must not drop that."""
        if not self._link.shared:
            # a cluster's scripts see one slot only: the look comes just before
            self._watch.ask([])
            self._link.ask([("UNLINK", *self._keys.all_of_case(case)) for case in cases])
            return
        told = self._watch.told()
        calls = [self._link.script("drop", [self._keys.about, *self._keys.all_of_case(case)], told) for case in cases]
        if -1 in self._link.ask(calls):
            raise self._watch.behind()
