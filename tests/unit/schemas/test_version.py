"""Versions: the id is the header's, and whatever travels beside it is proved by what the header names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.analysis import Analysis
from schemas.assessment import SHOWN, Assessment
from schemas.errors import CasetapeError, IdMismatch, RecordInvalid, UnknownType
from schemas.observation import Observation
from schemas.record import Record
from schemas.version import Content, Header, StateVersion, genesis
from tests.strategies import analyses, assessments, contents, headers, observations, plain_contents, versions


def swapped(record: Record, other: Record, field: str) -> Any:
    """`record` with this field of `other`, which must differ."""
    assume(getattr(record, field) != getattr(other, field))
    return record.model_copy(update={field: getattr(other, field)})


def test_the_empty_state_is_pinned() -> None:
    """Computed with sha256sum over the canonical header."""
    header = genesis("default", "host:10.0.0.5")
    assert header.version_id() == "ver_cc43a5d7ee6a85cc711a4a19365f4ba253de277f07fb070ebc5b8dbd2539c326"
    assert header.version_id(b"secret") != header.version_id()
    assert (header.number, header.parents, header.case) == (0, (), "default/host:10.0.0.5")


def test_each_case_has_an_empty_state_of_its_own() -> None:
    found = {genesis(*case).version_id() for case in (("acme", "x"), ("acme-corp", "x"), ("acme", "y"))}
    assert len(found) == 3


@given(headers, headers, st.sampled_from(sorted(set(Header.model_fields) - {"schema_"})))
def test_every_edit_of_the_header_is_found(header: Header, other: Header, field: str) -> None:
    version = StateVersion(id=header.version_id(), header=header)
    with pytest.raises(IdMismatch):
        version.model_copy(update={"header": swapped(header, other, field)}).proven()


@given(versions, headers, st.sampled_from(["kind", "name", "version"]))
def test_every_edit_of_the_author_is_found(version: StateVersion, other: Header, field: str) -> None:
    author = swapped(version.header.author, other.author, field)
    header = version.header.model_copy(update={"author": author})
    with pytest.raises(IdMismatch):
        version.model_copy(update={"header": header}).proven()


@given(versions)
def test_it_proves_itself(version: StateVersion) -> None:
    assert version.proven() is version
    with pytest.raises(IdMismatch):
        version.proven(b"secret")
    with pytest.raises(IdMismatch):
        version.model_copy(update={"id": "ver_" + "0" * 64}).proven()


def _assessed(header: Header, assessment: Assessment) -> StateVersion:
    header = header.model_copy(update={"assessment_digest": assessment.digest()})
    return StateVersion(id=header.version_id(), header=header, assessment=assessment)


@given(headers, assessments, assessments, st.sampled_from(sorted(Assessment.model_fields)))
def test_every_edit_of_the_assessment_is_found(
    header: Header, assessment: Assessment, other: Assessment, field: str
) -> None:
    version = _assessed(header, assessment).proven()
    with pytest.raises(IdMismatch):
        version.model_copy(update={"assessment": swapped(assessment, other, field)}).proven()


@given(headers, assessments)
def test_an_assessment_cannot_be_taken_away_or_added(header: Header, assessment: Assessment) -> None:
    with pytest.raises(IdMismatch):
        _assessed(header, assessment).model_copy(update={"assessment": None}).proven()
    bare = header.model_copy(update={"assessment_digest": None})
    with pytest.raises(IdMismatch):
        StateVersion(id=bare.version_id(), header=bare, assessment=assessment).proven()


@given(headers, headers, headers, st.sampled_from(sorted(set(Header.model_fields) - {"schema_"})))
def test_every_edit_of_a_branch_is_found(header: Header, branch: Header, other: Header, field: str) -> None:
    header = header.model_copy(update={"assessment_digest": None, "parents": (branch.version_id(),)})
    version = StateVersion(id=header.version_id(), header=header, branches={branch.version_id(): branch}).proven()
    with pytest.raises(IdMismatch):
        version.model_copy(update={"branches": {branch.version_id(): swapped(branch, other, field)}}).proven()


@given(headers, headers)
def test_a_branch_that_is_no_parent_is_found(header: Header, branch: Header) -> None:
    assume(branch.version_id() not in header.parents)
    header = header.model_copy(update={"assessment_digest": None})
    with pytest.raises(IdMismatch):
        StateVersion(id=header.version_id(), header=header, branches={branch.version_id(): branch}).proven()


@given(observations | analyses)
def test_a_content_is_opened_to_what_it_holds(record: Observation | Analysis) -> None:
    content = Content(id=record.id, body=record.model_dump(mode="json", by_alias=True))
    assert content.opened() == record
    assert type(content.opened()) is type(record)
    with pytest.raises(IdMismatch):
        content.opened(b"secret")


@given(plain_contents, st.data())
def test_every_edit_of_a_content_is_found(content: Content, data: st.DataObject) -> None:
    assert content.body is not None
    outside = {"schema", "flags", "redaction", "key_id"} if content.id.startswith("inp_") else {"schema"}
    field = data.draw(st.sampled_from(sorted(set(content.body) - outside)))
    other = data.draw(plain_contents.filter(lambda one: one.body is not None and field in one.body))
    assert other.body is not None
    assume(other.body[field] != content.body[field])
    with pytest.raises(CasetapeError):
        content.model_copy(update={"body": content.body | {field: other.body[field]}}).opened()


@given(plain_contents, plain_contents)
def test_a_content_under_another_id_is_found(content: Content, other: Content) -> None:
    assume(content.id != other.id)
    with pytest.raises((IdMismatch, RecordInvalid)):
        content.model_copy(update={"id": other.id}).opened()


@given(observations)
def test_an_observation_without_id_is_no_content_of_another(observation: Observation) -> None:
    body = observation.model_dump(mode="json", by_alias=True) | {"id": ""}
    assert Content(id=observation.id, body=body).opened() == observation
    with pytest.raises(IdMismatch):
        Content(id="inp_" + "0" * 64, body=body).opened()


@given(contents.filter(lambda content: content.body is None))
def test_sealed_and_destroyed_content_is_not_opened(content: Content) -> None:
    with pytest.raises(RecordInvalid):
        content.opened()


@pytest.mark.parametrize("identifier", ["", "ver_0", "x", "inpx_0", "ANA_0"])
def test_a_content_of_no_known_type_is_refused(identifier: str) -> None:
    with pytest.raises(UnknownType):
        Content(id=identifier, body={"schema": 1}).opened()


@given(versions)
def test_it_says_whose_it_is(version: StateVersion) -> None:
    header = version.header
    assert (version.tenant, version.subject, version.case) == (header.tenant, header.subject, header.case)
    if header.number is None:
        with pytest.raises(RecordInvalid):
            _ = version.number
    else:
        assert version.number == header.number


def test_the_cost_of_an_assessment_is_bounded() -> None:
    ids = tuple(f"ana_{number}" for number in range(SHOWN + 1))
    with pytest.raises(ValueError, match="counted"):
        Assessment(
            verdict="benign",
            score=0,
            severity="info",
            counted=ids,
            counted_total=len(ids),
            counted_digest="set_",
            policy="worst",
        )
