"""Whether the store may be used: its epoch, and the reason where it is refused."""

from __future__ import annotations

from engines.redis.cases import Cases
from engines.redis.part import text


class Epoch(Cases):
    """The part of the store about its own standing. It answers of a refused store too."""

    def epoch(self) -> str | None:
        found = self._link.one("HGET", self._keys.about, "epoch")
        return None if found is None else found.decode()

    def begin(self, epoch: str, *, anew: bool = False) -> bool:
        given = self._link.one(*self._link.script("begin", [self._keys.about], (epoch, int(anew), self._watch.name)))
        if given:
            self._watch.begun(epoch)
        return bool(given)

    def refuse(self, reason: str | None) -> None:
        self._watch.hold(reason)
        if reason is not None:
            self._find_strays()

    def _find_strays(self) -> None:
        """Brings into the index what it lacks, because a committer died, or the server of a cluster that has it lost
        it: whoever makes the store anew drops what the index names, and nothing may be left over."""
        for keys in self._link.scan(self._keys.heads()):
            cases = [self._keys.case_of(text(key)) for key in keys]
            if cases:
                numbers = self._link.ask([("HGET", self._keys.of_case(case, "head"), "number") for case in cases])
                tenants = {case.partition("/")[0] for case in cases}
                self._link.one("SADD", self._keys.tenants, *tenants)
                self._index.follow(
                    {case: (int(number), None) for case, number in zip(cases, numbers, strict=True) if number}
                )

    def refused(self) -> str | None:
        found = self._link.one("HGET", self._keys.about, "refused")
        return None if found is None else found.decode()
