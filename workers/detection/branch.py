"""Branch versions: what a worker publishes on top of the version it looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from schemas.analysis import Analysis
from schemas.keys import CaseKey
from schemas.observation import Observation
from schemas.record import CONTENT_LIMIT
from schemas.version import Author, Content, Header, StateVersion

BRANCH_LIMIT = CONTENT_LIMIT // 2
"""A branch version holds about this many bytes of content; more goes into the next."""


@dataclass(slots=True)
class Result:
    """What a batch brings to one case: analyses and observations, by id."""

    case: CaseKey
    analyses: dict[str, Analysis] = field(default_factory=dict)
    inputs: dict[str, Observation] = field(default_factory=dict)


def branches(
    result: Result, parent: str, author: Author, at: int, secret: bytes | None = None
) -> Iterator[StateVersion]:
    """The result as branch versions on top of version `parent`, made at `at` (microseconds): one, or several where one
    would be too large. An analysis travels with the observations of its sample, as far as they fit beside it."""
    pending: dict[str, Content] = {}
    size = 0
    for portion in _portions(result):
        added = sum(bytes_ for one, (_, bytes_) in portion.items() if one not in pending)
        if pending and size + added > BRANCH_LIMIT:
            yield _branch(result.case, pending, parent, author, at, secret)
            pending, size = {}, 0
            added = sum(bytes_ for _, bytes_ in portion.values())
        pending.update({one: content for one, (content, _) in portion.items()})
        size += added
    if pending:
        yield _branch(result.case, pending, parent, author, at, secret)


_Sized = tuple[Content, int]


def _portions(result: Result) -> Iterator[Mapping[str, _Sized]]:
    """What belongs into one version, each content with its bytes: at most BRANCH_LIMIT, or one content alone."""
    inputs = {one: _sized(result.inputs[one]) for one in sorted(result.inputs)}
    carried: set[str] = set()
    for identifier in sorted(result.analyses):
        analysis = result.analyses[identifier]
        portion = {identifier: _sized(analysis)}
        room = BRANCH_LIMIT - portion[identifier][1]
        for one in analysis.evidence.sample:
            if one in inputs and inputs[one][1] <= room:
                portion[one] = inputs[one]
                room -= inputs[one][1]
        carried.update(portion)
        yield portion
    for identifier, sized in inputs.items():
        if identifier not in carried:
            yield {identifier: sized}


def _sized(record: Observation | Analysis) -> _Sized:
    content = _content(record)
    return content, len(content.model_dump_json().encode())


def _content(record: Observation | Analysis) -> Content:
    return Content(id=record.id, body=record.model_dump(mode="json", by_alias=True))


def _branch(
    case: CaseKey, contents: Mapping[str, Content], parent: str, author: Author, at: int, secret: bytes | None
) -> StateVersion:
    ids = sorted(contents)
    header = Header(
        tenant=case.tenant,
        subject=case.subject,
        parents=(parent,),
        inputs=tuple(one for one in ids if one.startswith("inp_")),
        analyses=tuple(one for one in ids if one.startswith("ana_")),
        author=author,
        at=at,
    )
    return StateVersion(id=header.version_id(secret), header=header, contents=tuple(contents[one] for one in ids))
