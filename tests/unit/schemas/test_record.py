"""What holds for every record: unknown versions and fields are refused, and errors never show a value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from schemas.errors import RecordInvalid, UnknownType
from schemas.export import RECORDS
from schemas.record import Record, read_json
from tests.records import NAMES, encoded
from tests.unit.schemas.test_round_trip import STRATEGIES

CANARY = "canary-5f0d"
VERSIONED = [name for name in NAMES if "schema_" in RECORDS[name].model_fields]


def some(name: str) -> dict[str, Any]:
    """The JSON of one record of this name."""
    found: list[Record] = []

    @settings(max_examples=1, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(record=STRATEGIES[name])
    def take(record: Record) -> None:
        found.append(record)

    take()
    body: dict[str, Any] = json.loads(encoded(found[0]))
    return body


def test_all_records_but_the_assessment_carry_their_schema_version() -> None:
    """An assessment travels inside a version only."""
    assert set(NAMES) - set(VERSIONED) == {"assessment"}


@pytest.mark.parametrize("name", VERSIONED)
@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5])
def test_an_unknown_schema_version_is_refused(name: str, version: Any) -> None:
    with pytest.raises(UnknownType, match="schema: "):
        RECORDS[name].parse(json.dumps(some(name) | {"schema": version}).encode())


@pytest.mark.parametrize("name", VERSIONED)
def test_a_missing_schema_version_is_refused(name: str) -> None:
    body = some(name)
    del body["schema"]
    with pytest.raises(UnknownType, match="schema: "):
        RECORDS[name].parse(json.dumps(body).encode())
    with pytest.raises(UnknownType, match="schema: "):
        RECORDS[name].load(body)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_field_is_refused_by_its_name_only(name: str) -> None:
    with pytest.raises(RecordInvalid, match="unheard_of: ") as caught:
        RECORDS[name].parse(json.dumps(some(name) | {"unheard_of": CANARY}).encode())
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_an_error_names_the_field_and_never_the_value(name: str) -> None:
    """Each field in turn holds what it cannot."""
    body = some(name)
    for field in body:
        bad = {CANARY: CANARY} if not isinstance(body[field], dict) else [CANARY]
        with pytest.raises((RecordInvalid, UnknownType)) as caught:
            RECORDS[name].parse(json.dumps(body | {field: bad}).encode())
        assert f"({field}" in str(caught.value)
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_cannot_be_changed(name: str) -> None:
    record = RECORDS[name].parse(json.dumps(some(name)).encode())
    field = sorted(type(record).model_fields)[0]
    with pytest.raises(ValueError, match="frozen"):
        setattr(record, field, None)


@pytest.mark.parametrize(
    "line", [b"", b"{", b'{"a":"canary-5f0d', b"NaN", b"[Infinity]", b'"\xc1"', b'"\\ud800"', b"[" * 1000, b"1 2"]
)
def test_what_is_no_json_is_refused_without_its_text(line: bytes) -> None:
    with pytest.raises(RecordInvalid) as caught:
        read_json(line)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("digits", [19, 20, 400])
def test_integers_are_read_exactly(digits: int) -> None:
    assert read_json(b'{"a":%b}' % (b"7" * digits)) == {"a": int("7" * digits)}
