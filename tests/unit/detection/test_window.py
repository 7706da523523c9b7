"""A window says the same whether its rows are in memory, in the store, or in both; and what is due when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.observation import Observation
from workers.detection import window as module
from workers.detection.plugin import Finding
from workers.detection.window import Due, Load, WindowState
from workers.detection.windowed import Measure, Rows, Span, Window, WindowedDetector

ALWAYS = 10**9


class Sliding(WindowedDetector):
    """Thirty long, concluded every ten."""

    name = "sliding"
    window = Window(30, 10)
    columns = ("n",)
    minimum = 2
    early = (1, 3)

    def measure(self, observation: Observation) -> Measure | None:
        """Rows are put in by hand."""
        return None

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """What is due is looked at by hand."""
        return None


class Kept:
    """A window and the store of its parts."""

    def __init__(self, limit: int = 2**30) -> None:
        self.parts: dict[str, bytes] = {}
        self.made = 0
        self.state = self._state(limit)

    def _state(self, limit: int) -> WindowState:
        return WindowState(Sliding(), Load(self.parts.__getitem__, self._name), limit)

    def _name(self) -> str:
        self.made += 1
        return f"{self.made}"

    def add(self, row: Row, offset: int) -> None:
        self.state.table.add((row.case, row.key), offset.to_bytes(32), row.at, offset, (offset,), row.label)

    def put(self, parts: Iterable[tuple[str, bytes]]) -> None:
        before = set(self.state.parts())
        for name, body in parts:
            assert name not in self.parts
            self.parts[name] = body
        for gone in before - set(self.state.parts()):
            del self.parts[gone]
        for stray in set(self.parts) - set(self.state.parts()):
            del self.parts[stray]

    def save(self) -> None:
        self.put(self.state.save())

    def spill(self) -> None:
        self.save()
        self.state.spill()

    def prune(self, floor: int) -> None:
        self.save()
        self.put(self.state.prune(lambda case: floor))

    def restart(self, floor: int = -ALWAYS, limit: int = 2**30) -> None:
        """What was not saved is read again from the log; here everything was."""
        self.save()
        old, self.state = self.state, self._state(limit)
        self.state.runs, self.state.concluded = old.runs, old.concluded
        self.state.restore(lambda case: floor)


class Row(NamedTuple):
    case: str
    key: str
    at: int
    label: str | None


Said = list[tuple[tuple[str, str], tuple[int, int], list[tuple[int, int, int, str | None]]]]


def said(dues: Iterable[Due]) -> Said:
    return sorted(
        (
            due.group.name,
            (due.span.start, due.span.end),
            list(
                zip(
                    due.rows.at.tolist(),
                    due.group.offset.tolist(),
                    due.rows.numbers[:, 0].tolist(),
                    due.rows.labels,
                    strict=True,
                )
            ),
        )
        for due in dues
    )


def everything(kept: Kept) -> list[Said]:
    state = kept.state
    return [
        said(state.drained()),
        *(said(state.closing(case, -100, after)) for case in "ab" for after in (5, 30, 1_000)),
        *(said(state.closing(case, 20, 40)) for case in "ab"),
        *(said(state.open_of(case, closed)) for case in "ab" for closed in (-100, 25)),
        *(said(state.newest((case, key), end)) for case in "ab" for key in ("", "k", "l", "m") for end in (0, 30, 60)),
        said(prefix for due in state.drained() for prefix in state.prefixes(due)),
    ]


rows = st.builds(
    Row, st.sampled_from("ab"), st.sampled_from(["", "k", "l"]), st.integers(-20, 60), st.sampled_from([None, "x"])
)
steps = st.sampled_from(["add", "add", "save", "spill", "restart", "restart small", "prune"])


@given(st.lists(st.tuples(st.lists(rows, max_size=10), steps), max_size=8), st.integers(0, 20))
def test_where_the_rows_lie_changes_nothing(lives: list[tuple[list[Row], str]], concluded: int) -> None:
    plain, moved = Kept(), Kept()
    offset = 0
    for added, step in lives:
        for row in added:
            for kept in (plain, moved):
                kept.add(row, offset)
            offset += 1
        if step == "save":
            moved.save()
        elif step == "spill":
            moved.spill()
        elif step == "restart":
            moved.restart()
        elif step == "restart small":
            moved.restart(limit=500)
        elif step == "prune":
            moved.prune(-ALWAYS)
    plain.state.concluded = moved.state.concluded = concluded
    assert everything(moved) == everything(plain)
    assert moved.state.rows() >= len(plain.state.table)


@given(st.lists(rows, max_size=30), st.integers(-30, 70), st.integers(0, 30), st.booleans())
def test_pruning_keeps_exactly_what_lies_above(added: list[Row], floor: int, saved: int, spilled: bool) -> None:
    """Also where only some rows were saved before, and after a restart."""
    pruned, plain = Kept(), Kept()
    for offset, row in enumerate(added):
        pruned.add(row, offset)
        if row.at >= floor:
            plain.add(row, offset)
        if offset == saved:
            pruned.spill() if spilled else pruned.save()
    pruned.prune(floor)
    assert everything(pruned) == everything(plain)
    pruned.restart(floor)
    assert everything(pruned) == everything(plain)
    assert len(pruned.state.table) == len(plain.state.table)


def test_rewriting_drops_what_is_dead_from_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLACK", 10)
    kept = Kept()
    for offset in range(100):
        kept.add(Row("a", "k", offset, None), offset)
        kept.save()
    kept.prune(95)
    assert sum(run.rows for run in kept.state.runs) == 5 == len(kept.state.table)
    kept.restart(95)
    assert len(kept.state.table) == 5


def test_many_saves_make_few_runs() -> None:
    kept = Kept()
    for offset in range(2_000):
        kept.add(Row("ab"[offset % 2], f"{offset % 7}", offset % 50, None), offset)
        kept.save()
        assert len(kept.state.runs) < 32
    assert sum(run.rows for run in kept.state.runs) == 2_000


def filled(*ats: int) -> WindowState:
    kept = Kept()
    for offset, at in enumerate(ats):
        kept.add(Row("a", "k", at, None), offset)
    return kept.state


def ends(dues: Iterable[Due]) -> list[tuple[int, int]]:
    return [(due.span.end, len(due.group.at)) for due in dues]


def test_a_window_closes_when_its_end_is_reached_and_not_before() -> None:
    state = filled(0, 5, 9, 10, 19)
    assert ends(state.closing("a", -5, 9)) == []
    assert ends(state.closing("a", 9, 10)) == [(10, 3)]
    assert ends(state.closing("a", 10, 19)) == []
    assert ends(state.closing("a", 10, 20)) == [(20, 5)]
    assert ends(state.closing("a", -5, 1_000)) == [(10, 3), (20, 5)]
    assert ends(state.closing("b", -5, 1_000)) == []


def test_its_end_is_not_in_it_and_its_start_is() -> None:
    state = filled(0, 29, 30, 59)
    assert ends(state.drained()) == [(30, 2), (40, 2), (60, 2)]


def test_open_ones_are_those_that_are_not_closed() -> None:
    state = filled(0, 5, 12, 25)
    assert ends(state.open_of("a", 9)) == [(10, 2), (20, 3), (30, 4)]
    assert ends(state.open_of("a", 10)) == [(20, 3), (30, 4)]
    assert ends(state.open_of("a", 30)) == []


def test_a_drain_says_what_has_new_rows_in_it() -> None:
    state = filled(0, 1, 35, 36, 75, 76, 33)
    state.concluded = 6
    assert ends(state.drained()) == [(40, 3)]
    state.concluded = 7
    assert ends(state.drained()) == []


def test_what_a_window_was_when_its_newest_part_had_so_many() -> None:
    """Three of its newest ten; one alone is below the minimum, and a fourth is in no prefix."""
    state = filled(20, 21, 22, 23, 11)
    ((due,),) = [[one for one in state.drained() if one.span.end == 30]]
    assert [prefix.group.at.tolist() for prefix in state.prefixes(due)] == [[11, 20], [11, 20, 21, 22]]
    (first, *_) = filled(20, 21, 22).drained()
    assert [prefix.group.at.tolist() for prefix in state.prefixes(first)] == [[20, 21, 22]]


@given(st.lists(rows, max_size=40), st.integers(0, 40), st.sampled_from(["memory", "store", "both"]))
def test_counts_made_anew_are_those_that_were_kept(added: list[Row], restart: int, where: str) -> None:
    """Of every key in every open window, wherever its rows lie; those of closed windows are forgotten."""
    lasting, renewed = Kept(), Kept()
    closed = {"a": 10, "b": -100}.__getitem__
    lasting.state.watch(closed)
    for offset, row in enumerate(added):
        lasting.add(row, offset)
        assert lasting.state.tally is not None
        reached = lasting.state.tally.add((row.case, row.key), row.at, closed(row.case))
        in_part = [one for one in added[: offset + 1] if one[:2] == row[:2] and one.at // 10 == row.at // 10]
        open_still = row.at // 10 * 10 + 10 > closed(row.case)
        assert reached == (row.at // 10 * 10 + 10 if open_still and len(in_part) in (1, 3) else None)
        renewed.add(row, offset)
        if offset == restart and where != "memory":
            renewed.spill() if where == "store" else renewed.save()
    renewed.state.watch(closed)
    assert renewed.state.tally is not None
    assert lasting.state.tally is not None
    assert renewed.state.tally._cases == lasting.state.tally._cases
    for tally in (renewed.state.tally, lasting.state.tally):
        tally.close("b", ALWAYS)
        tally.close("c", ALWAYS)
        assert set(tally._cases) <= {"a"}
        tally.close("a", ALWAYS)
        assert len(tally) == 0


def test_times_before_the_epoch_have_windows_too() -> None:
    assert ends(filled(-1, -2, -11).drained()) == [(0, 3)]


def test_few_rows_are_no_case_for_the_detector() -> None:
    assert ends(filled(5).drained()) == []
    assert ends(filled(5, 45).drained()) == []
