"""Keeping house: what a home no longer has to keep leaves it, a little at a time, beside everything that is at work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from casetape.lagging import readers
from casetape.settings import Settings
from engines.engine import Engine
from engines.failpoints import fail_point
from engines.log import TopicPartition
from engines.retention import Bounds, trim
from engines.topics import ALL, QUARANTINE, STATES
from merge.pruning import prune
from merge.summary import SNAPSHOT_EVERY
from schemas.scales import DAY
from workers.feed import ledger, quarantine

SECONDS = 5.0
"""How long one call goes on at most, but for the step it is in."""
STEP_BYTES = 32 * 1024 * 1024
"""Bytes removed of a partition, or given back to the disk, in one step: some 0.2 s."""
NOTES = 1_000
"""Notes looked at in one call: all have their turn, one after the other."""
LONGEST = 10_000
"""Cases looked at in one call, those with most versions first."""
CURSOR = "keeping"
"""The note that says which other note was looked at last. It is the keeper's, and there is one."""
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """What one call did: records trimmed by topic, versions pruned, notes forgotten, bytes given back to the disk.
    `held`: what is beyond its bounds and has to stay, in words. `more`: whether to call again without waiting."""

    trimmed: dict[str, int] = field(default_factory=dict)
    versions: int = 0
    notes: int = 0
    given_back: int = 0
    held: tuple[str, ...] = ()
    more: bool = False


def keep(engine: Engine, settings: Settings, now: int, *, seconds: float = SECONDS) -> Kept:
    """Trims topics by age and size, prunes old versions, forgets old notes and gives free pages back, for about
    `seconds` at most. `now` in microseconds. Safe beside every service and beside other keepers. Raises what the engine
    raises where it does not answer or has no room.
    """
    return _Keeper(engine, settings, now, time.monotonic() + seconds).work()


def bounds_of(settings: Settings, topic: str, now: int) -> Bounds:
    """What the settings say that a topic keeps, at `now` (microseconds)."""
    days, mib = settings.retention.get(topic), settings.retention_mib.get(topic)  # type: ignore[call-overload]  # any topic's name may be asked for
    return Bounds(None if days is None else now - round(days * DAY), None if mib is None else round(mib * MIB))


def prunes(settings: Settings) -> bool:
    """Whether old versions leave the store: only while `states` keeps all of them, for what both let go of is lost."""
    return settings.keep_versions > 0 and bounds_of(settings, STATES, 0) == Bounds()


class _Keeper:
    """One call."""

    def __init__(self, engine: Engine, settings: Settings, now: int, until: float) -> None:
        self._engine = engine
        self._settings = settings
        self._now = now
        self._until = until
        self._held: list[str] = []
        self._more = False

    def work(self) -> Kept:
        # each has its first step in every call, however little time the others left
        return Kept(
            trimmed={topic: count for topic in ALL if (count := self._trim(topic))},
            versions=self._prune(),
            notes=self._forget(),
            given_back=self._give_back(),
            held=tuple(self._held),
            more=self._more,
        )

    def _steps(self, step: Callable[[], int]) -> int:
        """Repeats a step until it has nothing left to do, which it says with 0, or the time is over."""
        total = 0
        while done := step():
            total += done
            if time.monotonic() >= self._until:
                self._more = True
                break
        return total

    def _trim(self, topic: str) -> int:
        bounds = bounds_of(self._settings, topic, self._now)
        if bounds == Bounds():
            return 0
        if topic == STATES and (pruned := self._engine.store.sizes().pruned):
            self._held.append(
                f"`{STATES}` is not trimmed: it alone has {pruned:,} versions that the store let go of before it was"
                " given a bound"
            )
            return 0
        groups = readers(self._engine).get(topic, ())
        held: dict[int, int] = {}

        def step() -> int:
            trimmed = trim(self._engine.log, topic, bounds, groups, step=STEP_BYTES)
            fail_point("keeper.trimmed")
            held.clear()
            held.update(trimmed.held)
            return sum(trimmed.gone.values())

        gone = self._steps(step)
        if held:
            # without a number, so that whoever hears of it every minute can tell that it is the same
            self._held.append(f"`{topic}` has records that are due to go, and {', '.join(groups)} needs them still")
        return gone

    def _prune(self) -> int:
        if not prunes(self._settings):
            return 0
        store, keep_versions = self._engine.store, self._settings.keep_versions
        waiting = iter(store.prunable(keep_versions + SNAPSHOT_EVERY, LONGEST))
        total = 0
        for case in waiting:
            total += self._steps(lambda case=case: self._prune_one(case))  # type: ignore[misc]  # bound now
            if time.monotonic() >= self._until:
                self._more = self._more or next(waiting, None) is not None
                break
        return total

    def _prune_one(self, case: str) -> int:
        done = prune(self._engine.store, self._engine.log, case, self._settings.keep_versions)
        if done.refused is not None:
            self._held.append(
                f"old versions of `{case}` stay in the store: {done.refused}; run `casetape cases verify`"
            )
        return done.versions

    def _forget(self) -> int:
        """A page of the feed's notes: what was fed long ago, and what was requeued and lies in quarantine no more."""
        store = self._engine.store
        cursor = store.note(CURSOR)
        after = "" if cursor is None else cursor.decode()
        gone = looked = 0
        for prefix, forget, before in self._lifetimes():
            if after >= prefix and not after.startswith(prefix):
                continue
            page = store.notes(prefix, after=after, limit=NOTES - looked)
            gone += forget(store, page, before)
            looked += len(page)
            after = max(page, default=after)
            if looked >= NOTES:
                break
        else:
            after = ""
        # a lost race means that another keeper looks at the same notes, which is as well
        if after.encode() != (cursor or b""):
            store.move_note(CURSOR, cursor, after.encode() or None)
        return gone

    def _lifetimes(self) -> Iterator[tuple[str, Callable[..., int], int]]:
        """By prefix, in order: who forgets, and what is older than when."""
        yield ledger.PREFIX, ledger.forget, self._now - round(self._settings.keep_ledger * DAY)
        yield quarantine.REQUEUED, quarantine.forget, self._oldest_in_quarantine()

    def _oldest_in_quarantine(self) -> int:
        log = self._engine.log
        firsts = [
            log.read(TopicPartition(QUARANTINE, partition), start, 1)
            for partition, start in log.start_offsets(QUARANTINE).items()
        ]
        return min((found[0].appended_at for found in firsts if found), default=self._now)

    def _give_back(self) -> int:
        space = self._engine.space
        return 0 if space is None else self._steps(lambda: space.give_back(STEP_BYTES))
