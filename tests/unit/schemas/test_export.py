"""The published JSON Schemas: current, described, and true to what the records accept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from schemas.descriptions import DESCRIPTIONS
from schemas.errors import CasetapeError
from schemas.export import EXAMPLE, FOLDER, exported, json_schema
from schemas.observation import Observation
from schemas.record import Record
from tests.records import NAMES, encoded
from tests.strategies import sealed_observations, unidentified_observations
from tests.unit.schemas.test_round_trip import STRATEGIES

VALIDATORS = {name: Draft202012Validator(json_schema(name)) for name in NAMES}


def test_the_committed_files_are_current() -> None:
    """`make schemas` writes them."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()} == exported()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(json_schema(name))


def test_every_field_is_described_and_nothing_else() -> None:
    models: dict[str, dict[str, Any]] = {}
    for name in NAMES:
        schema = json_schema(name)
        models |= {schema["title"]: schema} | schema.get("$defs", {})
    assert {model: set(schema["properties"]) for model, schema in models.items()} == {
        model: set(texts) for model, texts in DESCRIPTIONS.items()
    }
    for schema in models.values():
        assert all(about["description"].endswith(".") for about in schema["properties"].values())


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_what_we_write_fits_it(name: str, data: st.DataObject) -> None:
    record: Record = data.draw(STRATEGIES[name])
    VALIDATORS[name].validate(json.loads(encoded(record)))


@given(unidentified_observations | sealed_observations)
def test_a_producers_observation_fits_it(observation: Observation) -> None:
    VALIDATORS["observation"].validate(json.loads(observation.model_dump_json(by_alias=True)))
    VALIDATORS["observation"].validate(json.loads(observation.model_dump_json(by_alias=True, exclude_defaults=True)))


def test_the_example_is_an_observation_without_an_id() -> None:
    [example] = json_schema("observation")["examples"]
    VALIDATORS["observation"].validate(example)
    assert "id" not in example
    assert Observation.load(example).proven().id.startswith("inp_")


BAD: list[dict[str, Any]] = [
    {"schema": 2},
    {"schema": None},
    {"tenant": "Acme"},
    {"tenant": "-a"},
    {"subject": ""},
    {"subject": " a"},
    {"subject": "a "},
    {"subject": "s" * 513},
    {"kind": ""},
    {"at": 1.5},
    {"at": "2020-04-30T12:00:00Z"},
    {"at": 2**63},
    {"flags": ["other"]},
    {"content": {}},
    {"content": {"data": None}},
    {"content": {"data": {}, "text": ""}},
    {"content": {"data": {}, "sealed": ""}},
    {"content": {"data": []}},
    {"content": {"text": "a", "more": 1}},
    {"received": 1},
]


@pytest.mark.parametrize("changes", BAD, ids=str)
def test_what_the_schema_refuses_the_record_refuses(changes: dict[str, Any]) -> None:
    body = EXAMPLE | changes
    assert not VALIDATORS["observation"].is_valid(body)
    with pytest.raises(CasetapeError):
        Observation.load(body)


@pytest.mark.parametrize("field", ["schema", "tenant", "subject", "kind", "content"])
def test_what_a_producer_must_give(field: str) -> None:
    body = {name: value for name, value in EXAMPLE.items() if name != field}
    assert not VALIDATORS["observation"].is_valid(body)
    with pytest.raises(CasetapeError):
        Observation.load(body)
