"""Field reports 9 and 10: what is no branch version of its case is refused, by the field's name and never its value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.log import LogRecord
from merge.branches import read_branch
from schemas.errors import IdMismatch, InputError, RecordInvalid, TenantMismatch, UnknownType
from schemas.scales import DAY
from schemas.version import Author, StateVersion
from tests import factories
from tests.strategies import versions

FINDING = factories.finding(1)
(PARENT,), (INPUT,) = FINDING.header.parents, FINDING.header.inputs


def rehashed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The finding with a change in it, and the version's id computed again."""
    body = json.loads(FINDING.encode())
    change(body)
    version = StateVersion.parse(json.dumps(body).encode())
    return version.model_copy(update={"id": version.header.version_id()}).encode()


def read(value: bytes, key: str = factories.CASE, appended_at: int = factories.START) -> None:
    read_branch(LogRecord(0, key, value, appended_at))


def header(**fields: object) -> bytes:
    return rehashed(lambda body: body["header"].update(fields))


def test_a_branch_is_read_with_its_contents_proved() -> None:
    branch = read_branch(factories.logged(FINDING)[0])
    assert (branch.id, branch.header) == (FINDING.id, FINDING.header)
    assert [one.id for one in branch.contents] == [one.id for one in FINDING.contents]


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (b"\xc1", RecordInvalid, "record: Invalid JSON"),
        (b"{}", RecordInvalid, "id: Field required"),
        (FINDING.encode().replace(b'"schema":1,', b"", 1), UnknownType, "StateVersion.*schema: Field required"),
        (json.dumps({**json.loads(FINDING.encode()), "schema": 2}).encode(), UnknownType, "StateVersion.*schema"),
        (json.dumps({**json.loads(FINDING.encode()), "more": "canary"}).encode(), RecordInvalid, "more: Extra inputs"),
        (FINDING.model_copy(update={"id": "ver_" + "0" * 64}).encode(), IdMismatch, "header"),
        (header(number=1), RecordInvalid, "merged version"),
        (header(parents=[]), RecordInvalid, "no parent"),
        (header(parents=[PARENT, "ver_" + "0" * 64]), RecordInvalid, "2 parents"),
        (header(parents=[PARENT, PARENT]), RecordInvalid, "2 parents"),
        (header(parents=["canary"]), RecordInvalid, "header.parents"),
        (header(parents=[""]), RecordInvalid, "header.parents"),
        (header(parents=[PARENT.upper()]), RecordInvalid, "header.parents"),
        (header(parents=[PARENT + "\n"]), RecordInvalid, "header.parents"),
        (header(parents=["inp_" + "0" * 64]), RecordInvalid, "header.parents"),
        *(
            (header(author={"kind": kind, "name": "canary", "version": ""}), RecordInvalid, "header.author.kind")
            for kind in ("none", "merger")
        ),
        (rehashed(lambda body: body["header"]["inputs"].append(INPUT)), RecordInvalid, "header.inputs is not sorted"),
        (rehashed(lambda body: body["header"]["analyses"].append("ana_")), RecordInvalid, "header.analyses is not so"),
        (rehashed(lambda body: body["contents"].append(body["contents"][0])), RecordInvalid, "contents: one comes twi"),
        (header(subject="host:canary"), TenantMismatch, "different cases"),
        (header(tenant="Not one"), RecordInvalid, "tenant or subject"),
        (header(inputs=[]), RecordInvalid, "header.inputs"),
        (header(analyses=["ana_1"]), RecordInvalid, "header.analyses"),
        (rehashed(lambda body: body["contents"].pop()), RecordInvalid, "header.inputs"),
        (rehashed(lambda body: body["contents"][0].update(body=None)), RecordInvalid, "sealed or was destroyed"),
        (rehashed(lambda body: body["contents"][0].update(id="fact_1")), UnknownType, "type `fact`"),
        (rehashed(lambda body: body["contents"][0]["body"].update(schema=7)), UnknownType, "Analysis.*schema"),
        (rehashed(lambda body: body["contents"][0]["body"].pop("verdict")), RecordInvalid, "verdict: Field required"),
        (rehashed(lambda body: body["contents"][0]["body"].update(title="canary")), IdMismatch, "not the digest"),
        (rehashed(lambda body: body["contents"][1]["body"].update(origin="canary")), IdMismatch, "not the digest"),
    ],
)
def test_what_is_no_branch_is_refused(value: bytes, error: type[InputError], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        read(value)
    assert "canary" not in str(caught.value)


def test_two_inputs_in_the_wrong_order_are_refused() -> None:
    two = factories.branch(factories.observation(1), factories.observation(2))
    header = two.header.model_copy(update={"inputs": two.header.inputs[::-1]})
    with pytest.raises(RecordInvalid, match=r"header\.inputs is not sorted"):
        read(two.model_copy(update={"header": header, "id": header.version_id()}).encode())


SAID = factories.branch(factories.analysis(1, detector="person:kim"))


def by(version: StateVersion, kind: str, name: str) -> bytes:
    header = version.header.model_copy(update={"author": Author(kind=kind, name=name)})  # type: ignore[arg-type]  # each is a kind
    return version.model_copy(update={"header": header, "id": header.version_id()}).encode()


def test_a_person_may_make_a_branch_that_says_what_that_person_says() -> None:
    read(by(SAID, "person", "kim"))
    read(by(factories.branch(factories.observation(1)), "person", "kim"))


@pytest.mark.parametrize(
    ("version", "kind", "name", "says"),
    [
        (SAID, "detectors", "kim", "a person, and no person made"),
        (SAID, "detectors", "person:kim", "a person, and no person made"),
        (SAID, "person", "kimi", "not the person who made"),
        (SAID, "person", "person:kim", "not the person who made"),
        (FINDING, "person", "kim", "not the person who made"),
        (FINDING, "person", "beaconing", "not the person who made"),
        (
            factories.branch(factories.analysis(1, detector="person:kim"), factories.analysis(2)),
            "person",
            "kim",
            "not the person who made",
        ),
    ],
)
def test_nobody_speaks_in_the_name_of_another(version: StateVersion, kind: str, name: str, says: str) -> None:
    with pytest.raises(RecordInvalid, match=says):
        read(by(version, kind, name))


@pytest.mark.parametrize("kind", ["header", "analysis"])
def test_a_time_far_ahead_of_the_append_is_refused(kind: str) -> None:
    """It would be current, or the newest, until that time has come."""
    last = factories.START + DAY

    def made(at: int) -> bytes:
        if kind == "header":
            return factories.branch(factories.analysis(1), at=at).encode()
        return factories.branch(factories.analysis(1, at=at)).encode()

    read(made(last))
    with pytest.raises(RecordInvalid, match="more than a day after"):
        read(made(last + 1))
    read(made(last + 1), appended_at=factories.START + 1)


def test_an_analysis_without_a_time_and_evidence_far_ahead_are_no_claim_to_be_the_newest() -> None:
    seen = factories.observation(1, at=factories.START + 9 * DAY, flags=("clock",))
    read(factories.branch(factories.analysis(1, at=None, on=(seen,)), seen).encode())


def test_a_content_of_another_case_is_refused() -> None:
    """I8."""
    other = factories.analysis(1, tenant="acme")
    with pytest.raises(TenantMismatch):
        read(factories.branch(other, tenant="default").encode())
    with pytest.raises(TenantMismatch):
        read(FINDING.encode(), key="acme/" + factories.SUBJECT)


@given(st.data())
def test_damaged_bytes_are_refused_and_never_crash(data: st.DataObject) -> None:
    value = bytearray(FINDING.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(bytes(value))
    except InputError:
        return
    assert StateVersion.parse(bytes(value)).proven()


@given(versions)
def test_any_version_is_read_or_refused(version: StateVersion) -> None:
    try:
        branch = read_branch(LogRecord(0, version.case, version.encode(), factories.START))
    except InputError:
        return
    assert branch.header.number is None
    assert len(branch.header.parents) == 1
    assert branch.header.at <= factories.START + DAY
