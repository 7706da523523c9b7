"""The quick way to read an observation takes and refuses what the model takes and refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import CasetapeError, IdMismatch, InputError, RecordInvalid, RecordTooLarge
from schemas.observation import DEPTH_LIMIT, Observation
from schemas.record import CONTENT_LIMIT
from tests import strategies
from tests.factories import observation
from tests.records import encoded
from workers.detection.reading import read

SECRET = b"a tenant's secret"


def plainly(value: bytes, secret: bytes | None = None) -> Observation:
    return Observation.parse(value).proven(secret)


def outcome(way: Any, value: bytes, secret: bytes | None = None) -> object:
    try:
        return way(value, secret)
    except CasetapeError as error:
        return type(error), str(error)


@given(strategies.observations | strategies.unidentified_observations)
def test_it_is_the_same_observation(one: Observation) -> None:
    value = one.model_dump_json(by_alias=True).encode()
    quick, plain = read(value), plainly(value)
    assert quick == plain
    assert quick.encode() == plain.encode()
    assert quick.model_dump_json(by_alias=True) == plain.model_dump_json(by_alias=True)
    assert list(quick.model_dump()) == list(plain.model_dump())
    assert quick.model_copy(update={"at": 5}) == plain.model_copy(update={"at": 5})


@given(strategies.unidentified_observations)
def test_a_secret_keys_the_id(one: Observation) -> None:
    value = one.model_dump_json(by_alias=True).encode()
    assert read(value, SECRET) == plainly(value, SECRET)
    assert read(value, SECRET).id != read(value).id


places = st.sampled_from(
    ["schema", "flags", "redaction", "key_id", "id", "at", "content", "kind", "origin", "subject", "tenant", "more"]
)


@given(strategies.observations, places, strategies.json_values | st.sampled_from([{}, [], "", 1, -1, 1.0, True, None]))
def test_it_refuses_the_same(one: Observation, place: str, value: Any) -> None:
    """Any field holds something else, or is missing, or there is one more."""
    body = json.loads(one.encode())
    changed, lacking = body | {place: value}, {name: held for name, held in body.items() if name != place}
    for each in (changed, lacking):
        line = json.dumps(each).encode()
        assert outcome(read, line) == outcome(plainly, line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"{",
        b'{"schema":1,"schema":2}',
        b'{"schema":1,"at":5.0}',
        b'{"schema":1,"content":{"data":{"a":NaN}},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":1e400}},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":"\xff"}},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":"\\ud800"}},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":1}},"kind":"k","subject":"s","tenant":"t\\n"}',
        b'{"schema":1,"content":{"data":{"a":1}},"kind":"k","subject":"s ","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":1},"text":"x"},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":1}},"kind":"k","subject":"s","tenant":"t","key_id":"k"}',
        b'{"schema":1,"content":{"data":{"a":123456789012345678901234567890}},"kind":"k","subject":"s","tenant":"t"}',
        b'{"schema":1,"content":{"data":{"a":1,"a":2}},"kind":"k","subject":"s","tenant":"t","tenant":"u"}',
        b'{"schema":1,"content":{"data":{"a":-0.0}},"kind":"k","subject":"s","tenant":"t"} ',
        b'{"schema":1,"content":{"data":{"a":1}},"kind":"k","subject":"s","tenant":"t"}x',
    ],
)
def test_by_hand(line: bytes) -> None:
    assert outcome(read, line) == outcome(plainly, line)


@pytest.mark.parametrize("levels", [DEPTH_LIMIT - 1, DEPTH_LIMIT, DEPTH_LIMIT + 1, 100_000])
def test_depth(levels: int) -> None:
    nested = b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"
    line = b'{"schema":1,"content":{"data":%b},"kind":"k","subject":"s","tenant":"t"}' % nested
    assert outcome(read, line) == outcome(plainly, line)


def test_an_edited_record_is_refused() -> None:
    with pytest.raises(IdMismatch):
        read(observation(1).encode().replace(b'"n":1', b'"n":2'))


def test_sealed_content_needs_an_id() -> None:
    sealed = {"schema": 1, "content": {"sealed": "eA=="}, "key_id": "k", "kind": "k", "subject": "s", "tenant": "t"}
    for identifier in ("", "x", "inp_" + "g" * 64, "inp_" + "0" * 64 + "\n"):
        with pytest.raises(RecordInvalid):
            read(json.dumps(sealed | {"id": identifier}).encode())
    assert read(json.dumps(sealed | {"id": "inp_" + "0" * 64}).encode()).content.sealed == "eA=="


@given(strategies.sealed_observations)
def test_sealed_content_is_taken_as_it_is(one: Observation) -> None:
    assert read(encoded(one)) == one


def test_a_record_that_is_too_large_is_refused() -> None:
    fits = observation(data={"x": "y" * (CONTENT_LIMIT - 300)})
    assert read(fits.encode()).id == fits.id
    with pytest.raises(RecordTooLarge) as caught:
        read(observation(data={"x": "y" * CONTENT_LIMIT}).encode())
    assert isinstance(caught.value, InputError)
