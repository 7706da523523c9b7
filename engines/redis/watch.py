"""Noticing that the store has lost what it acknowledged (I1), and keeping off a store that is refused.

The store has an epoch, given when it was made, and a beat that every commit counts up. Whoever has seen both notices
when a server comes back empty (no epoch) or from an older copy (a smaller beat), and stops everyone else too. What was
lost before anyone looked is found by comparing the store with `states` at the start (`merge.highwater`).

On one server a commit's own script looks too, so that nothing can happen between the look and the swap. On a cluster
epoch and beat lie in one slot: they are looked at before, and say nothing of what another server of it has lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from engines.redis.connection import Argument, Call, Link, token
from schemas.errors import EngineError, EngineUnavailable, StoreBehind

REBUILD = "run `casetape rebuild`, which makes the store anew from `states`"
_FIELDS = ("epoch", "refused", "refuser", "beat")


class Watch:
    """What one open store has seen of it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._me = token()
        self._epoch: str | None = None
        self._beat = 0
        self._holding = False

    @property
    def name(self) -> str:
        """How the store knows this one."""
        return self._me

    def told(self) -> tuple[Argument, ...]:
        """What `guard.lua` compares with the store."""
        return self._me, self._epoch or "", self._beat, int(self._holding)

    def ask(self, calls: Sequence[Call], again: Callable[[], None] | None = None) -> list[Any]:
        """The answers of a store that is as it should be. Raises StoreBehind."""
        answers = self._link.ask([("HMGET", self._link.keys.about, *_FIELDS), *calls], again)
        self._look(*answers[0])
        return answers[1:]

    def one(self, *call: Argument) -> Any:
        """The same of one call."""
        return self.ask([call])[0]

    def counted(self, beat: int) -> None:
        """Takes note of the beat that a commit has counted."""
        self._beat = max(self._beat, beat)

    def behind(self) -> EngineError:
        """Why a script has refused to write: raises StoreBehind; where that reason has gone by now, returns another
        error."""
        self.ask([])
        return EngineUnavailable(
            f"the store on Redis at {self._link.where} was refused just now; nothing was changed, try again"
        )

    def begun(self, epoch: str) -> None:
        """Takes note of the epoch that the store has been given from here."""
        self._epoch = epoch

    def hold(self, reason: str | None) -> None:
        """Refuses the store to everyone else, or (None) gives it back."""
        arguments = ("" if reason is None else reason, self._me)
        answer = self._link.one(*self._link.script("refuse", [self._link.keys.about], arguments))
        if not answer:
            raise EngineError(
                f"the store on Redis at {self._link.where} is being made anew by another: it stays refused until that"
                " ends"
            )
        epoch, beat = answer
        self._holding = reason is not None
        # whoever makes it anew takes it as it is
        self._epoch, self._beat = epoch.decode() or None, int(beat)

    def _look(self, epoch: bytes | None, refused: bytes | None, refuser: bytes | None, beat: bytes | None) -> None:
        own = refuser == self._me.encode()
        if refused is not None and not own:
            raise StoreBehind(refused.decode())
        if self._epoch is not None and epoch is not None and epoch.decode() != self._epoch:
            # not refused to others: who opens it now sees what it is
            raise StoreBehind(
                f"the store on Redis at {self._link.where} was made anew, or another put in its place, since this"
                " process opened it: start the process again"
            )
        counted = int(beat or 0)
        lost = self._lost(epoch is None, counted, own)
        if lost is not None:
            words = f"the store on Redis at {self._link.where} {lost}: {REBUILD}"
            # whether the others hear of it now or find it out themselves, this one stops
            with suppress(EngineError):
                self._link.one(*self._link.script("refuse", [self._link.keys.about], (words, "")))
            raise StoreBehind(words)
        self._epoch, self._beat = None if epoch is None else epoch.decode(), counted

    def _lost(self, without_epoch: bool, beat: int, own: bool) -> str | None:
        if self._epoch is not None and without_epoch:
            return "was emptied while it was in use"
        if beat < self._beat:
            return f"has lost writes that it had acknowledged (its count of commits fell from {self._beat} to {beat})"
        if self._holding and not own:
            return "was emptied while it was made anew"
        return None
