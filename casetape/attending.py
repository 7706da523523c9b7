"""Working off what a person has just put on the tape: by a run of our own where the home is free, else by waiting for
whoever is at work on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from casetape.counting import unused_words
from casetape.opening import reading
from casetape.run import Listener, run
from casetape.services.starting import wanted
from casetape.settings import Settings
from casetape.turn import RUN, HomeBusy, holder, turn
from engines.engine import Engine
from merge.policies.registry import Registry, policies
from schemas.errors import CasetapeError
from workers.feed.options import FeedCounts, FeedOptions

LOOK_SECONDS = {"embedded": 0.05, "cluster": 0.5}

Taken = Literal["taken_in", "left_out", "queued"]
"""Whether the case has it; or everything was worked off, and it has not; or others are still at work."""


class _Busy(CasetapeError):
    """Another has the home's turn."""

    retriable = True


def check(settings: Settings) -> None:
    """Raises UsageError and PluginError for settings that no run could start with: before anything is written."""
    policies(Registry.installed(), settings.policy_choice())
    wanted(settings, _nothing, _nothing)


def attend(settings: Settings, there: Callable[[Engine], bool], tell: Callable[[str], None], wait: float) -> Taken:
    """Returns once what is on the tape is in its case, as `there` sees it, or everything has been worked off, or
    others have been at work on the home for `wait` seconds since. On a cluster it only waits: services work there, in
    groups of their own, and whoever ran here would be one of another group. Raises what a run raises."""
    until = time.monotonic() + wait
    told = False
    on_servers = settings.engine == "cluster"
    while not _looked(settings, there):
        if not on_servers and holder(settings.home) is None and _worked_off(settings, tell):
            return "taken_in" if _looked(settings, there) else "left_out"
        if time.monotonic() >= until:
            return "queued"
        if not told:
            who = f"`casetape {holder(settings.home) or RUN}` is at work on {settings.home}"
            tell(f"{'workers and mergers are at work' if on_servers else who}: waiting for it to be taken in")
            told = True
        time.sleep(LOOK_SECONDS[settings.engine])
    return "taken_in"


def _looked(settings: Settings, there: Callable[[Engine], bool]) -> bool:
    with reading(settings) as engine:
        return there(engine)


def _worked_off(settings: Settings, tell: Callable[[str], None]) -> bool:
    """Runs where the home is free at this moment, and says whether it did."""

    def progress(done: int, size: int | None, counts: FeedCounts) -> None:
        """Nothing is fed."""

    try:
        report = run(settings, [], FeedOptions(tenant=settings.tenant), Listener(progress, tell, tell), take=_at_once)
    except (_Busy, HomeBusy):
        return False
    if report.quarantined or report.faults:
        tell(f"{unused_words(report.quarantined, report.faults)}: see `casetape quarantine list`")
    return True


@contextmanager
def _at_once(home: Path, tell: Callable[[str], None]) -> Iterator[None]:
    """The turn, without waiting for it. Raises _Busy."""
    with ExitStack() as stack:
        try:
            stack.enter_context(turn(home, tell, stopped=lambda: True))
        except KeyboardInterrupt:
            raise _Busy from None
        yield


def _nothing(sentence: str) -> None:
    """The run that follows says it again."""
