"""What a merger commits: the merged versions themselves, and how a fold that is too large is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merge.branches import Branch, branch_of
from merge.contents import carried, tape_record
from merge.plan import Maker, Plan, plan, reassessment
from merge.policies.registry import WORST
from merge.summary import SNAPSHOT_EVERY, Summary, SummaryBody, empty
from schemas.record import CONTENT_LIMIT
from schemas.version import Author, Content, StateVersion
from tests import factories
from tests.unit.merge.cases import KEY, MERGER

NOW = factories.START + 5
MAKER = Maker(WORST, MERGER, NOW)


def planned(*branches: Branch, summary: Summary | None = None, known: frozenset[str] = frozenset()) -> Plan:
    made = plan(KEY, empty(*KEY) if summary is None else summary, branches, known, MAKER)
    assert made is not None
    return made


def full(made: Plan, place: int = 0) -> StateVersion:
    """A planned version as it goes onto the tape."""
    stored = made.commit.versions[place]
    return StateVersion.parse(tape_record(stored.record, [one.body for one in stored.contents]))


def test_a_merged_version_stands_on_the_line_and_on_its_branches() -> None:
    branches = [branch_of(factories.finding(n)) for n in range(3)]
    made = planned(*branches)
    version = full(made).proven()
    assert version.header.parents == (empty(*KEY).id, *sorted(one.id for one in branches))
    assert version.branches == {one.id: one.header for one in branches}
    assert (version.number, version.header.at, version.header.author) == (1, NOW, MERGER)
    assert carried(version) == tuple(content.id for content in version.contents)
    assert {content.opened().id for content in version.contents} == {c.id for one in branches for c in one.contents}
    assert list(version.header.inputs) == sorted(version.header.inputs)


def test_the_next_version_stands_on_the_last() -> None:
    first = planned(branch_of(factories.finding(1)))
    second = planned(branch_of(factories.finding(2)), summary=first.summary)
    assert second.commit.expected == first.summary.head
    assert second.versions[0].header.parents[0] == first.versions[0].id
    assert second.versions[0].number == 2


def test_the_bytes_for_the_tape_are_those_of_the_whole_version() -> None:
    """Field report 12: every field comes back, of what changed and of what did not."""
    branch = factories.branch(
        factories.observation(1, data={"ä": [1.5, None, {"x": "\u2028"}], "big": 10**30}),
        factories.observation(2, text="a build server", flags=("clock",)),
        factories.analysis(1, target="t", text="why"),
    )
    made = planned(branch_of(branch))
    contents = tuple(sorted(branch.contents, key=lambda one: one.id))
    assert full(made) == made.versions[0].model_copy(
        update={"contents": contents, "branches": {branch.id: branch.header}}
    )
    stored = made.commit.versions[0]
    assert tape_record(stored.record, [one.body for one in stored.contents]) == full(made).encode()
    assert [Content.parse(one.body) for one in stored.contents] == list(contents)


def test_what_is_known_is_not_added_and_its_branch_is_no_parent() -> None:
    old, new = factories.finding(1), factories.finding(2)
    known = frozenset(one.id for one in old.contents)
    made = planned(branch_of(old), branch_of(new), known=known)
    assert made.versions[0].header.parents[1:] == (new.id,)
    assert plan(KEY, empty(*KEY), [branch_of(old)], known, MAKER) is None


def test_a_branch_that_is_partly_known_adds_the_rest() -> None:
    seen, said = factories.observation(1), factories.analysis(1)
    made = planned(branch_of(factories.branch(seen, said)), known=frozenset([seen.id]))
    assert (made.versions[0].header.inputs, made.versions[0].header.analyses) == ((), (said.id,))


def test_time_on_the_line_never_runs_back() -> None:
    first = planned(branch_of(factories.finding(1)))
    late = plan(KEY, first.summary, [branch_of(factories.finding(2))], frozenset(), MAKER._replace(now=NOW - 100))
    assert late is not None
    assert late.versions[0].header.at == NOW


def test_the_row_is_that_of_the_last_version() -> None:
    said = (
        factories.analysis(1, target="t", verdict="malicious", score=960_000),
        factories.analysis(2, target="t", verdict="benign", score=0),
    )
    row = planned(branch_of(factories.branch(*said))).commit.row
    assert (row.key, row.verdict, row.severity, row.score) == (factories.CASE, "malicious", "critical", 960_000)
    assert (row.analyses, row.conflicts, row.updated_at, row.number) == (2, 1, NOW, 1)


def test_a_fold_that_is_too_large_is_split_between_branches() -> None:
    branches = [
        branch_of(factories.branch(factories.observation(n, text=f"{n}" + "x" * 200_000), factories.analysis(n)))
        for n in range(10)
    ]
    made = planned(*branches)
    assert [one.number for one in made.versions] == [1, 2, 3]
    assert made.commit.row.number == 3
    taken = [one for place in range(3) for one in full(made, place).branches]
    assert taken == sorted(one.id for one in branches) == sorted(made.taken)
    assert all(len(full(made, place).encode()) <= CONTENT_LIMIT + 10_000 for place in range(3))
    assert made.summary.inputs_total == made.summary.analyses_total == 10


def test_headers_count_towards_the_limit() -> None:
    branches = [branch_of(factories.finding(n)) for n in range(1500)]
    made = planned(*branches)
    assert len(made.versions) > 1
    assert all(len(full(made, place).encode()) <= CONTENT_LIMIT + 10_000 for place in range(len(made.versions)))


def test_a_branch_that_alone_is_too_large_is_split_between_its_contents() -> None:
    big = factories.branch(*(factories.observation(n, text=f"{n}" + "x" * 200_000) for n in range(9)))
    small = factories.finding(99)
    made = planned(branch_of(big), branch_of(small))
    assert len(made.versions) == 3
    assert [big.id in full(made, place).branches for place in range(3)].count(True) >= 2
    assert made.taken == {big.id, small.id}
    assert made.summary.inputs_total == 10
    for place, version in enumerate(made.versions):
        assert version.header.parents[0] == (made.versions[place - 1].id if place else empty(*KEY).id)
        assert len(full(made, place).proven().encode()) <= CONTENT_LIMIT + 10_000


def test_snapshots_hold_ids_only_and_grow_linearly() -> None:
    """Field report 7: a case ten times as long takes about ten times the room."""
    sizes: list[int] = []
    summary = empty(*KEY)
    for n in range(1000):
        made = planned(
            branch_of(factories.branch(factories.analysis(n % 100, at=factories.START + n))), summary=summary
        )
        taken = made.commit.snapshot
        sizes.append(sum(len(one.record) for one in made.commit.versions) + (len(taken.body) if taken else 0))
        summary = made.summary
        if taken is not None:
            body = SummaryBody.parse(taken.body)
            assert body.current == tuple(sorted(one.id for one in summary.current.values()))
            summary = replace(summary, snapshot=taken.number)
            assert summary.number % SNAPSHOT_EVERY == 0 or summary.number >= 100
    assert sum(sizes) < 10 * sum(sizes[:200]) / 2 * 1.2


def test_reassessing_adds_nothing_but_an_assessment() -> None:
    first = planned(branch_of(factories.finding(1)))
    person = Author(kind="person", name="ada")
    made = reassessment(KEY, first.summary, Maker(WORST, person, NOW + 1))
    header = made.versions[0].header
    assert (header.parents, header.inputs, header.analyses) == ((first.summary.id,), (), ())
    assert (header.author, header.number) == (person, 2)
    assert made.summary.current == first.summary.current


@pytest.mark.parametrize("secret", [None, b"tenant's own"])
def test_ids_are_keyed_where_the_tenant_has_a_secret(secret: bytes | None) -> None:
    made = plan(KEY, empty(*KEY, secret), [branch_of(factories.finding(1))], frozenset(), MAKER._replace(secret=secret))
    assert made is not None
    version = made.versions[0]
    assert (version.id, version.header.parents[0]) == (version.header.version_id(secret), empty(*KEY, secret).id)
