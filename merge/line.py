"""The line of a case as it is kept: versions by page, from the store, or where it was pruned from the tape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engines.log import EventLog
from engines.store import StateStore, StoredVersion
from engines.topics import STATES
from merge.contents import carried, parted
from merge.tape import find
from schemas.errors import InputError
from schemas.version import StateVersion


@dataclass(frozen=True, slots=True)
class Held:
    """A version with the bytes of its contents by id, as far as they are kept; `taped`: they are the tape's."""

    version: StoredVersion
    bodies: Mapping[str, bytes]
    taped: bool


class Line:
    """One case, read while others write it and prune it."""

    def __init__(self, store: StateStore, log: EventLog, case: str) -> None:
        self._store = store
        self._log = log
        self._case = case

    def pruned(self) -> int:
        """The last number that the store no longer keeps."""
        return self._store.pruned([self._case])[self._case]

    def page(self, first: int, last: int) -> Iterator[tuple[int, Held | str]]:
        """By number, in order: versions `first`..`last`, or in words why there is none."""
        stored = {one.number: one for one in self._store.versions(self._case, first, last)}
        ids = {number: _named(one.record) for number, one in stored.items()}
        bodies = self._store.contents(self._case, [one for held in ids.values() for one in held])
        # asked for last: what was pruned meanwhile is on the tape
        floor = self.pruned()
        taped = find(self._store, self._log, self._case, range(first, min(floor, last) + 1))
        for number in range(first, last + 1):
            if number in taped:
                yield number, self._taped(taped[number].value)
            elif number <= floor:
                yield number, f"the version is kept neither in the store nor in `{STATES}`"
            elif number in stored:
                held = {one: bodies[one] for one in ids[number] if one in bodies}
                yield number, Held(stored[number], held, taped=False)
            else:
                yield number, f"versions are missing between {first} and {last}"

    def _taped(self, value: bytes) -> Held | str:
        try:
            version = parted(value)
        except InputError as error:
            return f"`{STATES}`: {error}"
        return Held(version._replace(contents=()), {one.id: one.body for one in version.contents}, taped=True)


def _named(record: bytes) -> tuple[str, ...]:
    """The contents that a version's record names; none where it cannot be read, which following it will tell."""
    try:
        return carried(StateVersion.parse(record))
    except InputError:
        return ()
