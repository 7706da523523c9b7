"""Summary: what the next version of a case needs to know of all earlier ones. It bounds the fold: its size follows the
current analyses, never the length of the case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import ConfigDict, Field

from engines.store import Head, Snapshot
from merge.state import Kept, State, current, greatest
from schemas.analysis import Analysis, AnalysisKey
from schemas.persons import person_of
from schemas.record import Record
from schemas.version import genesis

SNAPSHOT_EVERY = 64
"""A snapshot is written after at least this many versions, and after as many as there are current analyses: so reading
folds a bounded number of versions, and all snapshots together grow linearly with the case."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A case at `number`, whose version has this `id` and was made `at` (microseconds).

    Totals count everything ever added; `newest` is the case's newest event time in microseconds, or None: that of its
    analyses, since an observation's flags say whether its clock can be believed, and they lie outside its id, so that
    two branches may bring it with different ones (I4); and not of persons' analyses, whose time is that of a request.
    `current`: of each detector and fingerprint the newest. `snapshot` is the number of the newest stored snapshot,
    which is the store's business and no part of the case.
    """

    number: int
    id: str
    at: int = 0
    inputs_total: int = 0
    analyses_total: int = 0
    newest: int | None = None
    current: Mapping[AnalysisKey, Analysis] = field(default_factory=dict)
    snapshot: int = field(default=0, compare=False)

    @property
    def head(self) -> Head:
        """The head of a case that stands here."""
        return Head(self.number, self.id)


class SummaryBody(Record):
    """A summary as a snapshot keeps it: the current analyses by id only (sorted), for their contents lie in the store
    once already."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    number: int
    id: str
    at: int
    inputs_total: int
    analyses_total: int
    newest: int | None
    current: tuple[str, ...]


def empty(tenant: str, subject: str, secret: bytes | None = None) -> Summary:
    """The summary of a case's version 0."""
    return Summary(0, genesis(tenant, subject).version_id(secret))


def advance(summary: Summary, added: Iterable[Kept]) -> Summary:
    """The summary once these stand in the case as well: each once, and none of them there before. Number, id and time
    stay; `moved` sets them. Parts may come in any order and grouping."""
    held = list(added)
    analyses = [one for one in held if isinstance(one, Analysis)]
    return grown(summary, len(held) - len(analyses), analyses)


def grown(summary: Summary, inputs: int, analyses: Sequence[Analysis]) -> Summary:
    """As `advance`, where of the observations only the number is known."""
    newest = summary.newest
    for one in analyses:
        at = one.at
        if at is not None and (newest is None or at > newest) and person_of(one.detector) is None:
            newest = at
    return replace(
        summary,
        inputs_total=summary.inputs_total + inputs,
        analyses_total=summary.analyses_total + len(analyses),
        newest=newest,
        current=greatest(summary.current, analyses),
    )


def moved(summary: Summary, number: int, identifier: str, at: int) -> Summary:
    """The same contents at another version."""
    return replace(summary, number=number, id=identifier, at=at)


def summarise(state: State, number: int, identifier: str, at: int) -> Summary:
    """The summary of a whole state, without any fold: what every chain of `advance` must come to."""
    times = [one.at for one in state.analyses.values() if one.at is not None and person_of(one.detector) is None]
    return Summary(
        number=number,
        id=identifier,
        at=at,
        inputs_total=len(state.inputs),
        analyses_total=len(state.analyses),
        newest=max(times, default=None),
        current=current(state),
    )


def snapshot_due(summary: Summary) -> bool:
    """Whether the newest snapshot lies far enough back."""
    return summary.number - summary.snapshot >= max(SNAPSHOT_EVERY, len(summary.current))


def snapshot_of(summary: Summary) -> Snapshot:
    """The snapshot of this summary."""
    body = SummaryBody(
        number=summary.number,
        id=summary.id,
        at=summary.at,
        inputs_total=summary.inputs_total,
        analyses_total=summary.analyses_total,
        newest=summary.newest,
        current=tuple(sorted(one.id for one in summary.current.values())),
    )
    return Snapshot(summary.number, body.model_dump_json(by_alias=True).encode())


def restored(body: SummaryBody, analyses: Iterable[Analysis]) -> Summary:
    """The summary that a snapshot's body and the contents of its current analyses make."""
    return Summary(
        number=body.number,
        id=body.id,
        at=body.at,
        inputs_total=body.inputs_total,
        analyses_total=body.analyses_total,
        newest=body.newest,
        current={one.key: one for one in analyses},
        snapshot=body.number,
    )
