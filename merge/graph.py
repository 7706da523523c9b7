"""The version graph as data: versions folded to a state, and two moments of a case compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from merge.contents import opened
from merge.policies.common import Reason, common_of, left_out
from merge.state import State, add
from merge.summary import Summary
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.errors import UsageError
from schemas.version import StateVersion


@dataclass(frozen=True)
class Moment:
    """A case at one version: its summary there, and the assessment (None at version 0)."""

    summary: Summary
    assessment: Assessment | None

    @cached_property
    def said(self) -> Mapping[str, Analysis]:
        """By id: the current analyses."""
        return {one.id: one for one in self.summary.current.values()}

    @cached_property
    def left_out(self) -> Mapping[str, Reason]:
        """By id: which of the current analyses the assessment leaves out, and why."""
        if self.assessment is None:
            return {}
        return left_out(self.summary.current.values(), self.summary.newest, common_of(self.assessment.options))

    def standing(self, analysis: str) -> Standing | None:
        """What this analysis is here; None where it is not current."""
        return None if analysis not in self.said else self.left_out.get(analysis, "counts")


Standing = Literal["counts"] | Reason
"""What a current analysis is: it counts, or why it does not."""


class Turn(NamedTuple):
    """An analysis that counts again, or no longer, or came and does not count: what it `was` (None: not current) and
    what it is `now`."""

    analysis: Analysis
    was: Standing | None
    now: Standing


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one moment of a case to a later one: ids of the inputs and analyses that were added (sorted),
    the analyses that are current at `end` and were not at `start`, and those that were and are no more (both in id
    order)."""

    start: Moment
    end: Moment
    inputs: tuple[str, ...]
    analyses: tuple[str, ...]
    became_current: tuple[Analysis, ...]
    superseded: tuple[Analysis, ...]

    @property
    def first(self) -> int:
        """The number of the earlier version."""
        return self.start.summary.number

    @property
    def last(self) -> int:
        """The number of the later one."""
        return self.end.summary.number

    @property
    def assessment_changed(self) -> bool:
        """Whether the two ends are assessed differently in anything."""
        return self.start.assessment != self.end.assessment


def fold(versions: Iterable[StateVersion], secret: bytes | None = None) -> State:
    """The state that these versions (with contents) add up to, each content proved. Order and repeats make no
    difference. Raises what `Content.opened` raises."""
    state = State()
    return add(state, (one for version in versions for one in opened(version, secret)))


def diff(a: Moment, b: Moment, between: Iterable[StateVersion]) -> Difference:
    """What the versions after `a` up to `b` (`between`; contents are not needed) changed. Raises UsageError where `b`
    comes before `a`."""
    if b.summary.number < a.summary.number:
        raise UsageError("a difference runs from the earlier version to the later one")
    versions = list(between)
    before, after = a.said, b.said
    return Difference(
        start=a,
        end=b,
        inputs=tuple(sorted(one for version in versions for one in version.header.inputs)),
        analyses=tuple(sorted(one for version in versions for one in version.header.analyses)),
        became_current=tuple(after[one] for one in sorted(after.keys() - before.keys())),
        superseded=tuple(before[one] for one in sorted(before.keys() - after.keys())),
    )


def turns(a: Moment, b: Moment) -> tuple[Turn, ...]:
    """Which of the analyses that are current at `b` count otherwise than at `a`, or came since and do not count: the
    weightiest first. Those that came and count are not among them, nor those that are current no more."""
    found = []
    for one in b.said.values():
        was, now = a.standing(one.id), b.standing(one.id)
        if now is not None and was != now and (was, now) != (None, "counts"):
            found.append(Turn(one, was, now))
    return tuple(sorted(found, key=lambda turn: (-turn.analysis.weight, turn.analysis.id)))
