"""Branch versions stay under the limit of a record, and an analysis travels with its sample."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engines.topics import RECORD_LIMIT
from schemas.analysis import Analysis
from schemas.keys import CaseKey
from schemas.observation import Observation
from schemas.record import CONTENT_LIMIT
from schemas.version import Author, StateVersion
from tests.factories import SUBJECT, TENANT, analysis, observation
from workers.detection.branch import BRANCH_LIMIT, Result, branches

AUTHOR = Author(kind="detectors", name="test", version="1")
PARENT = "ver_" + "0" * 64


def result(*records: Observation | Analysis) -> Result:
    made = Result(CaseKey(TENANT, SUBJECT))
    for one in records:
        if isinstance(one, Analysis):
            made.analyses[one.id] = one
        else:
            made.inputs[one.id] = one
    return made


def of(made: Result) -> list[StateVersion]:
    return [StateVersion.parse(one.encode()).proven() for one in branches(made, PARENT, AUTHOR, 5)]


def large(n: int, size: int) -> Observation:
    return observation(n, data={"n": n, "x": "é" * (size // 2)})


@given(st.lists(st.tuples(st.integers(10, 200_000), st.booleans()), max_size=12))
def test_everything_comes_once_and_under_the_limit(sizes: list[tuple[int, bool]]) -> None:
    records: list[Observation | Analysis] = []
    for n, (size, said) in enumerate(sizes):
        seen = large(n, size)
        records += [seen, analysis(n, on=(seen,), text="t" * (size % 60_000))] if said else [seen]
    made = result(*records)
    versions = of(made)
    ids = [content.id for one in versions for content in one.contents]
    assert sorted(set(ids)) == sorted({*made.inputs, *made.analyses})
    for one in versions:
        contents = {content.id: content.opened() for content in one.contents}
        assert one.header.parents == (PARENT,)
        assert set(one.header.inputs) | set(one.header.analyses) == set(contents)
        assert len(one.encode()) <= BRANCH_LIMIT + 20_000
        for each in contents.values():
            if isinstance(each, Analysis):
                assert set(each.evidence.sample) <= set(contents)
    assert len({one.id for one in versions}) == len(versions)


def test_a_sample_that_does_not_fit_beside_its_analysis_follows_it() -> None:
    seen = [large(n, CONTENT_LIMIT - 1_000) for n in range(3)]
    one = analysis(1, on=tuple(seen))
    versions = of(result(one, *seen))
    assert all(len(version.encode()) <= RECORD_LIMIT for version in versions)
    ids = [content.id for version in versions for content in version.contents]
    assert sorted(ids) == sorted([one.id, *(each.id for each in seen)])


def test_a_shared_observation_travels_with_each_analysis() -> None:
    seen = large(1, 1_000)
    many = [analysis(n, on=(seen,), text="t" * 60_000) for n in range(20)]
    versions = of(result(seen, *many))
    assert len(versions) > 1
    assert all(seen.id in version.header.inputs for version in versions)


def test_nothing_makes_no_version() -> None:
    assert of(result()) == []
