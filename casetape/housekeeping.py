"""Keeping house on servers, where no `casetape up` does it: beside each merger, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from casetape.keeping import keep
from casetape.opening import working
from casetape.run import now
from casetape.settings import Settings
from schemas.errors import CasetapeError

EVERY_SECONDS = 60.0
LEAVE_SECONDS = 10.0


@contextmanager
def keeping_house(settings: Settings, tell: Callable[[str], None], every: float = EVERY_SECONDS) -> Iterator[None]:
    """Trims topics, prunes versions and forgets notes every `every` seconds, until the block ends; several may do so
    side by side. `tell` hears once of what has to stay, and of what goes wrong: it is tried again."""
    enough = threading.Event()

    def work() -> None:
        told: tuple[str, ...] = ()
        while not enough.wait(every):
            said = _kept(settings, enough)
            for sentence in said:
                if sentence not in told:
                    tell(sentence)
            told = said

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join(LEAVE_SECONDS)


def _kept(settings: Settings, enough: threading.Event) -> tuple[str, ...]:
    """Once, with an engine of its own. What is to be told of it."""
    try:
        with working(settings, create=False) as engine:
            while not enough.is_set():
                kept = keep(engine, settings, now())
                if not kept.more:
                    return kept.held
    except CasetapeError as error:
        return (f"keeping house: {error}",)
    return ()
