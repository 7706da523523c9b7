"""When windows are concluded on a partition, and how what was said early of them is settled."""

from __future__ import annotations

from schemas.analysis import Analysis
from schemas.scales import LIMIT
from workers.detection.groups import Name
from workers.detection.guard import Fault
from workers.detection.looking import Looking, Outcome
from workers.detection.partition import Partition
from workers.detection.snapshot import Early, Said
from workers.detection.standing import Standing
from workers.detection.tally import Tally
from workers.detection.window import Due, WindowState


def close(owned: Partition, case: str, before: int, after: int, looking: Looking, outcome: Outcome) -> None:
    """Concludes a case's windows that end between these lateness limits (clock - lateness, microseconds)."""
    for window in owned.windows:
        if window.boundary(before) != window.boundary(after):
            for due in window.closing(case, before, after):
                settle(owned, window, due, looking.conclude(window, due, outcome), looking, outcome)
            if window.tally is not None:
                window.tally.close(case, after)


def settle(
    owned: Partition, window: WindowState, due: Due, said: Analysis | Fault | None, looking: Looking, outcome: Outcome
) -> None:
    """Takes back what was said early of the window, unless the same is said of it now that it is complete. A detector
    that fails takes nothing back: it has not said that there is nothing."""
    early = owned.early.pop(_place(window, due), None)
    if early is not None and _otherwise(said, early):
        _withdraw(owned, window, due, early, looking, outcome)
    if isinstance(said, Analysis):
        _stand(owned, due, said, looking, outcome)


def drain(owned: Partition, window: WindowState, due: Due, looking: Looking, outcome: Outcome) -> None:
    """Concludes a window of which all has been read. What a live run would have said early is said too, where the
    final word is of the same: there is nothing to take back. A later run may bring more of the same window, and must
    then be able to take it back: it is remembered for as long as the window's rows are."""
    said = looking.conclude(window, due, outcome)
    settle(owned, window, due, said, looking, outcome)
    if not isinstance(said, Analysis):
        return
    owned.early[_place(window, due)] = Said(said.fingerprint, said.at)
    for prefix in window.prefixes(due):
        tried = Outcome()
        early = looking.conclude(window, prefix, tried, provisional=True)
        if not isinstance(early, Analysis) or early.fingerprint == said.fingerprint:
            outcome.take(tried)


def count(
    owned: Partition, window: WindowState, tally: Tally, name: Name, at: int, looking: Looking, outcome: Outcome
) -> None:
    """Counts a row of event time `at` (microseconds) that has come live, and concludes the window whose newest part it
    lies in, provisionally, if the detector asked to be asked at this count."""
    end = tally.add(name, at, owned.clocks[name[0]].at - owned.terms.lateness)
    if end is not None:
        for due in window.newest(name, end):
            _say_early(owned, window, due, looking, outcome)


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
                _say_early(owned, window, due, looking, outcome)


def conclude_for_good(owned: Partition, cases: list[str], looking: Looking, outcome: Outcome) -> None:
    """Concludes these cases' open windows: they are about to be forgotten."""
    for case in cases:
        owned.terms.beat()
        close(owned, case, owned.clocks[case].at - owned.terms.lateness, LIMIT, looking, outcome)


def _say_early(owned: Partition, window: WindowState, due: Due, looking: Looking, outcome: Outcome) -> None:
    said = looking.conclude(window, due, outcome, provisional=True)
    if isinstance(said, Fault):
        return
    early = owned.early.pop(_place(window, due), None)
    if early is not None and _otherwise(said, early):
        _withdraw(owned, window, due, early, looking, outcome, provisional=True)
    if said is not None:
        owned.early[_place(window, due)] = Said(said.fingerprint, said.at)
        _stand(owned, due, said, looking, outcome)


def _stand(owned: Partition, due: Due, said: Analysis, looking: Looking, outcome: Outcome) -> None:
    """Remembers a window's word, and says it again where something newer was taken back before."""
    case = due.group.name[0]
    standing = owned.standings.setdefault((said.detector, case, said.fingerprint), Standing())
    again = standing.say(due.span.end, said)
    if again is not None:
        looking.say_again(case, again, outcome)


def _withdraw(
    owned: Partition,
    window: WindowState,
    due: Due,
    early: Said,
    looking: Looking,
    outcome: Outcome,
    *,
    provisional: bool = False,
) -> None:
    case = due.group.name[0]
    standing = owned.standings.setdefault((window.detector.name, case, early.fingerprint), Standing())
    newest = int(due.group.at[-1])
    stands = standing.take_back(due.span.end, newest if early.at is None else max(newest, early.at))
    if isinstance(stands, Analysis):
        looking.say_again(case, stands, outcome)
    else:
        looking.withdraw(window.detector, due, early, stands, outcome, provisional=provisional)


def _otherwise(said: Analysis | Fault | None, early: Said) -> bool:
    """Whether what is said now is not what was said early."""
    return not isinstance(said, Fault) and (said is None or said.fingerprint != early.fingerprint)


def _place(window: WindowState, due: Due) -> Early:
    return (window.detector.name, *due.group.name, due.span.end)
