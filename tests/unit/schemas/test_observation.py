"""Observations: what a producer writes, what the tape holds, and that an id is the content's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.digests import OBSERVATION, digest
from schemas.errors import IdMismatch, InputError, NotCanonical, RecordInvalid, UnknownType
from schemas.observation import Observation
from schemas.scales import FLOOR, LIMIT
from schemas.version import Content, StateVersion, genesis
from tests.strategies import observations, sealed_observations, unidentified_observations

CANARY = "canary-5f0d"
PLAIN: dict[str, Any] = {
    "schema": 1,
    "tenant": "default",
    "subject": "host:10.0.0.5",
    "kind": "zeek.conn",
    "at": 1_588_248_000_123_456,
    "origin": "sensor-1",
    "content": {"data": {"ts": 1588248000.123456, "id.orig_p": 49733, "proto": "tcp"}},
}
PLAIN_ID = "inp_471c1f8edffcf92d4fc2f73df46612b0c0f0170538d1ed35f5732644ad45a241"


def written(**changes: Any) -> bytes:
    return json.dumps(PLAIN | changes).encode()


def parsed(**changes: Any) -> Observation:
    return Observation.parse(written(**changes))


def test_the_id_is_pinned() -> None:
    assert parsed().proven().id == PLAIN_ID


@given(unidentified_observations)
def test_without_an_id_it_gets_the_contents(observation: Observation) -> None:
    proven = observation.proven()
    assert proven.model_copy(update={"id": ""}) == observation
    assert proven.proven() is proven
    assert Observation.parse(observation.encode()) == proven


@given(observations)
def test_a_secret_makes_other_ids(observation: Observation) -> None:
    keyed = observation.model_copy(update={"id": ""}).proven(b"secret")
    assert keyed.id != observation.id
    assert keyed.proven(b"secret") is keyed
    with pytest.raises(IdMismatch):
        keyed.proven()
    assert Observation.parse(keyed.encode()) == keyed


@pytest.mark.parametrize("wrong", ["inp_" + "0" * 64, PLAIN_ID.upper(), PLAIN_ID[4:], "x"])
def test_a_wrong_id_is_found(wrong: str) -> None:
    with pytest.raises(IdMismatch):
        parsed(id=wrong).proven()


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant": "other"},
        {"subject": "host:10.0.0.6"},
        {"kind": "zeek.dns"},
        {"at": 1_588_248_000_123_457},
        {"at": None},
        {"origin": "sensor-2"},
        {"origin": ""},
        {"content": {"data": {"ts": 1588248000.123456, "id.orig_p": 49733.0, "proto": "tcp"}}},
        {"content": {"data": {}}},
        {"content": {"text": "tcp"}},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_an_edit_of_what_the_id_covers_is_found(changes: dict[str, Any]) -> None:
    with pytest.raises(IdMismatch):
        parsed(id=PLAIN_ID, **changes).proven()


def test_flags_and_redaction_lie_outside_the_id() -> None:
    assert parsed(id=PLAIN_ID, flags=["clock"], redaction="r2").proven().id == PLAIN_ID


@given(sealed_observations)
def test_sealed_content_is_kept_and_cannot_be_proved(observation: Observation) -> None:
    assert observation.proven() is observation
    with pytest.raises(RecordInvalid):
        observation.encode()
    with pytest.raises(RecordInvalid):
        observation.identity()


@pytest.mark.parametrize("changes", [{"key_id": "k"}, {"content": {"sealed": "AA=="}}], ids=["plain", "sealed"])
def test_just_sealed_content_names_a_key(changes: dict[str, Any]) -> None:
    """`encode` writes no key: a plain observation with one would lose it."""
    with pytest.raises(RecordInvalid):
        parsed(**changes)


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5, [1]])
def test_an_unknown_schema_version_is_refused(version: Any) -> None:
    with pytest.raises(UnknownType, match="schema"):
        parsed(schema=version)


def test_a_missing_schema_version_is_refused() -> None:
    with pytest.raises(UnknownType, match="schema"):
        Observation.parse(json.dumps({k: v for k, v in PLAIN.items() if k != "schema"}).encode())


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("tenant", {"tenant": CANARY.upper()}),
        ("tenant", {"tenant": 7}),
        ("subject", {"subject": f"{CANARY}\n"}),
        ("subject", {"subject": ""}),
        ("kind", {"kind": ""}),
        ("kind", {"kind": CANARY * 100}),
        ("at", {"at": CANARY}),
        ("at", {"at": 1.5}),
        ("at", {"at": LIMIT}),
        ("at", {"at": FLOOR - 1}),
        ("at", {"at": True}),
        ("origin", {"origin": CANARY * 100}),
        ("flags.0", {"flags": [CANARY]}),
        ("content", {"content": {}}),
        ("content", {"content": {"data": {"a": CANARY}, "text": CANARY}}),
        ("content", {"content": {"data": None}}),
        ("content.data", {"content": {"data": [CANARY]}}),
        ("content.text", {"content": {"text": {"a": CANARY}}}),
        ("content.other", {"content": {"text": "a", "other": CANARY}}),
        ("received", {"received": CANARY}),
        ("redaction", {"redaction": [CANARY]}),
        ("id", {"id": None}),
    ],
)
def test_an_error_names_the_field_and_never_the_value(path: str, changes: dict[str, Any]) -> None:
    with pytest.raises(RecordInvalid) as caught:
        parsed(**changes)
    assert f"{path}: " in str(caught.value)
    assert CANARY not in str(caught.value).lower()
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b'"canary-5f0d"',
        b'{"schema":1,"text":"canary-5f0d',
        b'{"schema":1,"text":"canary-5f0d \xc1"}',
        b'{"canary-5f0d',
        b'{"schema":1,"subject":"canary-5f0d \\ud800"}',
        b"\xff\xfe",
        b"[" * 1000,
    ],
)
def test_what_is_no_record_is_refused_without_its_text(line: bytes) -> None:
    with pytest.raises(InputError) as caught:
        Observation.parse(line)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity"])
def test_a_number_without_canonical_form_is_refused(number: str) -> None:
    line = written(content={"data": {"x": CANARY}}).replace(b'"canary-5f0d"', number.encode())
    with pytest.raises(InputError):
        Observation.parse(line).proven()
    with pytest.raises(NotCanonical):
        Observation.model_validate(PLAIN | {"content": {"data": {"x": float("inf")}}}).encode()


def test_an_accepted_observation_fits_into_a_version() -> None:
    """However deeply nested: a version that cannot be read would take its evidence with it."""
    accepted = 0
    for depth in range(1, 400):
        line = written(content={"data": {"x": CANARY}}).replace(b'"canary-5f0d"', b"[" * depth + b"]" * depth)
        try:
            observation = Observation.parse(line).proven()
        except RecordInvalid:
            continue
        accepted = depth
        content = Content(id=observation.id, body=observation.model_dump(mode="json", by_alias=True))
        header = genesis("default", "x")
        version = StateVersion(id=header.version_id(), header=header, contents=(content,))
        assert StateVersion.parse(version.encode()).contents[0].opened() == observation
    assert 32 <= accepted < 399


@given(observations, st.data())
def test_an_edited_byte_behind_the_id_is_found(observation: Observation, data: st.DataObject) -> None:
    value = bytearray(observation.encode())
    place = data.draw(st.integers(value.index(b'"id":"inp_') + 6, len(value) - 1))
    value[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(InputError):
        Observation.parse(bytes(value)).proven()


@pytest.mark.parametrize("place", [0, 1], ids=["quote", "comma"])
def test_an_edit_just_behind_the_id_is_found(place: int) -> None:
    value = bytearray(parsed().encode())
    value[value.index(PLAIN_ID.encode()) + len(PLAIN_ID) + place] ^= 1
    with pytest.raises(InputError):
        Observation.parse(bytes(value)).proven()


_BODY = b'"content":{"text":"a"},"kind":"k","origin":"","subject":"s","tenant":"t"}'
_FRONT = b'{"schema":1,"flags":[],"redaction":null,"key_id":null,'


@pytest.mark.parametrize(
    ("front", "identity"),
    [
        (_FRONT, b"{" + _BODY),
        (_FRONT + b'"at":5,', b"{" + _BODY),
        (_FRONT, b'{"at":null, ' + _BODY),
        (_FRONT, b'{"at":1,"at":null,' + _BODY),
        (_FRONT, b'{"kind":"k","at":null,"content":{"text":"a"},"origin":"","subject":"s","tenant":"t"}'),
        (_FRONT, b'{"at":null,"content":{"text":"\\u0061"},"kind":"k","origin":"","subject":"s","tenant":"t"}'),
        (_FRONT, b'{"at":null,"content":{"text":"a"},"id":"x","kind":"k","origin":"","subject":"s","tenant":"t"}'),
    ],
    ids=["at left out", "at before the id", "white space", "a repeated key", "unsorted", "needless escape", "two ids"],
)
def test_an_id_of_other_bytes_is_refused(front: bytes, identity: bytes) -> None:
    """A producer's digest of other bytes than the canonical ones would give one observation two ids."""
    value = front + b'"id":"' + digest(OBSERVATION, identity).encode() + b'",' + identity[1:]
    with pytest.raises(InputError):
        Observation.parse(value).proven()
