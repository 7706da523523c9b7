"""When windows are concluded on a partition, and how what was said early of them is settled."""

from __future__ import annotations

from schemas.scales import LIMIT
from workers.detection.looking import Looking, Outcome
from workers.detection.partition import Partition
from workers.detection.snapshot import Said
from workers.detection.window import Due, WindowState


def close(owned: Partition, case: str, before: int, after: int, looking: Looking, outcome: Outcome) -> None:
    """Concludes a case's windows that end between these lateness limits (clock - lateness, microseconds)."""
    for window in owned.windows:
        if window.boundary(before) != window.boundary(after):
            for due in window.closing(case, before, after):
                settle(owned, window, due, looking.conclude(window, due, outcome), looking, outcome)


def settle(
    owned: Partition, window: WindowState, due: Due, said: Said | None, looking: Looking, outcome: Outcome
) -> None:
    """Takes back what was said early of the window, unless the same is said of it now that it is complete."""
    early = owned.early.pop((window.detector.name, *due.group.name, due.span.end), None)
    if early is not None and (said is None or said.fingerprint != early.fingerprint):
        looking.withdraw(window.detector, due, early, outcome)


def remember(
    owned: Partition, window: WindowState, due: Due, said: Said | None, looking: Looking, outcome: Outcome
) -> None:
    """Settles what a drain said of the window. A later run may bring more of the same window, and must then be able to
    take it back: it is remembered for as long as the window's rows are."""
    settle(owned, window, due, said, looking, outcome)
    if said is not None:
        owned.early[(window.detector.name, *due.group.name, due.span.end)] = said


def fallen_silent(owned: Partition, silence: int, now: int) -> list[str]:
    """The cases of which the log has had nothing for `silence` microseconds, and whose windows are still open."""
    limit = now - silence
    return [case for case, clock in owned.clocks.items() if not clock.quiet and clock.heard <= limit]


def conclude_early(owned: Partition, cases: list[str], looking: Looking, outcome: Outcome) -> None:
    """Concludes these cases' open windows provisionally."""
    for case in cases:
        owned.terms.beat()
        closed = owned.clocks[case].at - owned.terms.lateness
        for window in owned.windows:
            for due in window.open_of(case, closed):
                said = looking.conclude(window, due, outcome, provisional=True)
                name = (window.detector.name, *due.group.name, due.span.end)
                early = owned.early.pop(name, None)
                if early is not None and (said is None or said.fingerprint != early.fingerprint):
                    looking.withdraw(window.detector, due, early, outcome, provisional=True)
                if said is not None:
                    owned.early[name] = said


def conclude_for_good(owned: Partition, cases: list[str], looking: Looking, outcome: Outcome) -> None:
    """Concludes these cases' open windows: they are about to be forgotten."""
    for case in cases:
        owned.terms.beat()
        close(owned, case, owned.clocks[case].at - owned.terms.lateness, LIMIT, looking, outcome)
