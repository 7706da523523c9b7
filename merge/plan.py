"""What a merger commits: from a summary and branch versions to merged versions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from engines.store import CaseRow, Commit, StoredContent, StoredVersion
from merge.assess import assess
from merge.branches import Branch
from merge.contents import NewContent, bare_record, is_analysis, is_input
from merge.policies.registry import BoundPolicy
from merge.summary import Summary, grown, moved, snapshot_due, snapshot_of
from schemas.assessment import Assessment
from schemas.keys import CaseKey
from schemas.record import CONTENT_LIMIT
from schemas.version import Author, Header, StateVersion

_ID = attrgetter("id")
_QUOTES = 16
"""JSON around one more id or content: quotes, commas, colons."""


class Maker(NamedTuple):
    """Who makes the versions, when (microseconds), by which policy, and with which secret of the tenant."""

    policy: BoundPolicy
    author: Author
    now: int
    secret: bytes | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Versions to commit, without contents and branches; the commit that does it, which has them whole; the summary
    once it is done; and the ids of the branches that they take in."""

    versions: tuple[StateVersion, ...]
    commit: Commit
    summary: Summary
    taken: frozenset[str]


class _Part(NamedTuple):
    """What one branch adds."""

    branch: Branch
    contents: Sequence[NewContent]


def plan(case: CaseKey, summary: Summary, branches: Iterable[Branch], known: Set[str], maker: Maker) -> Plan | None:
    """The versions that take these branches in, on top of `summary`; None where they add nothing to the contents that
    are `known` of the case. Neither the order of branches nor repeats among them make a difference."""
    groups = list(_split(_parts(branches, known)))
    return _planned(case, summary, groups, maker) if groups else None


def reassessment(case: CaseKey, summary: Summary, maker: Maker) -> Plan:
    """One version that adds nothing but the assessment by the maker's policy."""
    return _planned(case, summary, [[]], maker)


def _parts(branches: Iterable[Branch], known: Set[str]) -> Iterator[_Part]:
    seen = set(known)
    for branch in sorted(branches, key=_ID):
        new = []
        for one in sorted(branch.contents, key=_ID):
            if one.id not in seen:
                seen.add(one.id)
                new.append(one)
        if new:
            yield _Part(branch, new)


def _split(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Groups of parts, each for one version that stays within the limit of a record."""
    group: list[_Part] = []
    room = CONTENT_LIMIT
    for part in parts:
        for piece, size in _pieces(part):
            if group and size > room:
                yield group
                group, room = [], CONTENT_LIMIT
            group.append(piece)
            room -= size
    if group:
        yield group


def _pieces(part: _Part) -> Iterator[tuple[_Part, int]]:
    """The part with its size in bytes; where it alone is too large, cut between contents."""
    base = len(part.branch.header_json) + 2 * (len(part.branch.id) + _QUOTES)
    sizes = [len(one.envelope) + len(one.id) + _QUOTES for one in part.contents]
    whole = base + sum(sizes)
    if whole <= CONTENT_LIMIT:
        yield part, whole
        return
    piece: list[NewContent] = []
    total = base
    for one, size in zip(part.contents, sizes, strict=True):
        if piece and total + size > CONTENT_LIMIT:
            yield _Part(part.branch, piece), total
            piece, total = [], base
        piece.append(one)
        total += size
    yield _Part(part.branch, piece), total


def _planned(case: CaseKey, summary: Summary, groups: Sequence[Sequence[_Part]], maker: Maker) -> Plan:
    before = summary.head
    versions, stored = [], []
    for group in groups:
        contents = sorted([one for part in group for one in part.contents], key=_ID)
        said = [one.analysis for one in contents if one.analysis is not None]
        larger = grown(summary, len(contents) - len(said), said)
        assessment = assess(larger.current.values(), larger.newest, maker.policy)
        version = _version(case, summary, group, contents, assessment, maker)
        summary = moved(larger, version.number, version.id, version.header.at)
        versions.append(version)
        stored.append(_stored(version, assessment, group, contents))
    snapshot = snapshot_of(summary) if snapshot_due(summary) else None
    row = row_of(versions[-1], len(summary.current))
    commit = Commit(str(case), before, tuple(stored), row, snapshot)
    return Plan(tuple(versions), commit, summary, frozenset([part.branch.id for group in groups for part in group]))


def _version(
    case: CaseKey,
    summary: Summary,
    group: Sequence[_Part],
    contents: Sequence[NewContent],
    assessment: Assessment,
    maker: Maker,
) -> StateVersion:
    header = Header(
        tenant=case.tenant,
        subject=case.subject,
        number=summary.number + 1,
        parents=(summary.id, *(part.branch.id for part in group)),
        inputs=tuple([one.id for one in contents if is_input(one.id)]),
        analyses=tuple([one.id for one in contents if is_analysis(one.id)]),
        assessment_digest=assessment.digest(),
        author=maker.author,
        at=max(maker.now, summary.at),
    )
    return StateVersion(
        id=header.version_id(maker.secret),
        header=header,
        assessment=assessment,
    )


def _stored(
    version: StateVersion, assessment: Assessment, group: Sequence[_Part], contents: Sequence[NewContent]
) -> StoredVersion:
    branches = {part.branch.id: part.branch.header_json for part in group}
    record = bare_record(version.id, version.header, assessment, branches)
    return StoredVersion(
        version.number, version.id, record, tuple([StoredContent(one.id, one.envelope) for one in contents])
    )


def row_of(version: StateVersion, current: int) -> CaseRow:
    """The index row of a case whose newest version this is and that has this many current analyses. Raises nothing on
    a merged version, which always carries an assessment."""
    assessment = version.assessment
    assert assessment is not None, "a merged version carries an assessment"  # noqa: S101 - for the type checker
    return CaseRow(
        key=version.case,
        tenant=version.tenant,
        subject=version.subject,
        number=version.number,
        id=version.id,
        verdict=assessment.verdict,
        severity=assessment.severity,
        score=assessment.score,
        analyses=current,
        conflicts=assessment.conflicts_total,
        updated_at=version.header.at,
    )
