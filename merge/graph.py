"""The version graph as data: versions folded to a state, and two moments of a case compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from merge.contents import opened
from merge.state import State, add
from merge.summary import Summary
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.errors import UsageError
from schemas.version import StateVersion


@dataclass(frozen=True, slots=True)
class Moment:
    """A case at one version: its summary there, and the assessment (None at version 0)."""

    summary: Summary
    assessment: Assessment | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from version `first` to `last`: ids of the inputs and analyses that were added (sorted), the
    analyses that are current at `last` and were not at `first`, those that were and are no more (both in id order), and
    the assessments at both ends."""

    first: int
    last: int
    inputs: tuple[str, ...]
    analyses: tuple[str, ...]
    became_current: tuple[Analysis, ...]
    superseded: tuple[Analysis, ...]
    before: Assessment | None
    after: Assessment | None

    @property
    def assessment_changed(self) -> bool:
        """Whether the two ends are assessed differently in anything."""
        return self.before != self.after


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
    before = {one.id: one for one in a.summary.current.values()}
    after = {one.id: one for one in b.summary.current.values()}
    return Difference(
        first=a.summary.number,
        last=b.summary.number,
        inputs=tuple(sorted(one for version in versions for one in version.header.inputs)),
        analyses=tuple(sorted(one for version in versions for one in version.header.analyses)),
        became_current=tuple(after[one] for one in sorted(after.keys() - before.keys())),
        superseded=tuple(before[one] for one in sorted(before.keys() - after.keys())),
        before=a.assessment,
        after=b.assessment,
    )
