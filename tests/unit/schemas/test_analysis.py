"""Analyses: ids, which of several is current, and the evidence they rest on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas.analysis import SAMPLE_SMALLEST, Analysis, AnalysisKey, Evidence, evidence_of
from schemas.digests import set_digest
from schemas.errors import IdMismatch, RecordInvalid
from schemas.record import INT64
from schemas.scales import FLOOR, MILLION
from tests.strategies import analyses, evidences, ids, times

NOTHING = evidence_of([])


def analysis(**changes: Any) -> Analysis:
    plain: dict[str, Any] = {
        "tenant": "default",
        "subject": "host:10.0.0.5",
        "detector": "beaconing",
        "version": "1",
        "parameters": "par_" + "0" * 64,
        "fingerprint": "beacon 10.0.0.5 -> 203.0.113.9:443",
        "verdict": "suspicious",
        "score": 700_000,
        "confidence": 500_000,
        "title": "A beacon",
        "evidence": NOTHING,
        "at": 1_588_248_000_000_000,
    }
    return Analysis(**plain | changes).identified()


def test_the_id_is_pinned() -> None:
    """SHA-256 of `ana`, a line feed and the canonical bytes, written out by hand and hashed with sha256sum."""
    assert analysis().id == "ana_591fb23e427f822be59e698aa140d9db446e55fea116acd0bcff5281659b5bb5"


@given(analyses)
def test_it_proves_its_id(one: Analysis) -> None:
    assert one.proven() is one
    with pytest.raises(IdMismatch):
        one.proven(b"secret")
    assert one.identified(b"secret").proven(b"secret").id != one.id


@given(analyses, analyses, st.sampled_from(sorted(set(Analysis.model_fields) - {"schema_"})))
def test_every_edit_is_found(one: Analysis, other: Analysis, field: str) -> None:
    assume(getattr(one, field) != getattr(other, field))
    with pytest.raises(IdMismatch):
        one.model_copy(update={field: getattr(other, field)}).proven()


@given(analyses, evidences, st.sampled_from(sorted(Evidence.model_fields)))
def test_every_edit_of_the_evidence_is_found(one: Analysis, other: Evidence, field: str) -> None:
    assume(getattr(one.evidence, field) != getattr(other, field))
    evidence = one.evidence.model_copy(update={field: getattr(other, field)})
    with pytest.raises(IdMismatch):
        one.model_copy(update={"evidence": evidence}).proven()


def _evidence(total: int) -> Evidence:
    return evidence_of([(f"inp_{number:064x}", number) for number in range(total)])


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (analysis(at=1, provisional=False, evidence=_evidence(9)), analysis(at=2, provisional=True)),
        (analysis(at=None, evidence=_evidence(9)), analysis(at=FLOOR, provisional=True)),
        (analysis(provisional=True, evidence=_evidence(9)), analysis(provisional=False)),
        (analysis(evidence=_evidence(2)), analysis(evidence=_evidence(3))),
    ],
    ids=["event time", "no time is oldest", "final over provisional", "evidence"],
)
def test_the_newer_is_current(older: Analysis, newer: Analysis) -> None:
    assert max(older, newer, key=lambda one: one.order) is newer
    assert max(newer, older, key=lambda one: one.order) is newer


def test_else_the_id_decides() -> None:
    one, other = sorted((analysis(title="a"), analysis(title="b")), key=lambda each: each.id)
    assert one.order < other.order


@given(analyses, analyses)
def test_the_order_is_total(one: Analysis, other: Analysis) -> None:
    assume(one.id != other.id)
    assert (one.order < other.order) != (other.order < one.order)


def test_what_it_competes_for() -> None:
    assert analysis(detector="d", fingerprint="f", title="x").key == AnalysisKey("d", "f")


@given(analyses)
def test_its_weight(one: Analysis) -> None:
    assert 0 <= one.weight <= min(one.score, one.confidence)
    assert one.weight * MILLION <= one.score * one.confidence < (one.weight + 1) * MILLION


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", MILLION + 1),
        ("score", -1),
        ("confidence", 0.5),
        ("verdict", "evil"),
        ("detector", ""),
        ("fingerprint", ""),
        ("numbers.a", {"a": INT64}),
        ("numbers.a", {"a": 0.5}),
        ("title", "x" * 513),
    ],
)
def test_what_does_not_fit_is_refused(field: str, value: Any) -> None:
    body = analysis().model_dump(mode="json", by_alias=True) | {field.partition(".")[0]: value}
    with pytest.raises(RecordInvalid, match=f"{field}: "):
        Analysis.load(body)


@given(st.lists(st.tuples(ids("inp"), st.none() | times), max_size=30, unique_by=lambda pair: pair[0]), st.randoms())
def test_evidence_has_neither_order_nor_repeats(pairs: list[tuple[str, int | None]], random: Any) -> None:
    again = pairs + pairs[:5]
    random.shuffle(again)
    assert evidence_of(again) == evidence_of(pairs)


@given(st.lists(st.tuples(ids("inp"), st.none() | times), max_size=30, unique_by=lambda pair: pair[0]))
def test_evidence_sums_up_the_observations(pairs: list[tuple[str, int | None]]) -> None:
    found = evidence_of(pairs)
    timed = [(at, one) for one, at in pairs if at is not None]
    assert found.total == len(pairs)
    assert found.set_digest == set_digest(one for one, _ in pairs)
    assert (found.first, found.last) == ((min(timed)[0], max(timed)[0]) if timed else (None, None))
    smallest = sorted(one for one, _ in pairs)[:SAMPLE_SMALLEST]
    ends = {min(timed)[1], max(timed)[1]} if timed else set()
    assert found.sample == tuple(sorted({*smallest, *ends}))
