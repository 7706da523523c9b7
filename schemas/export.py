"""The JSON Schema of each record on the tape, for producers and readers in any language.

`python -m schemas.export` writes them to schemas/jsonschema, where they are committed; a test says when they are stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.descriptions import DESCRIPTIONS
from schemas.keys import SUBJECT_LIMIT
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from schemas.record import SCHEMA, Record
from schemas.version import StateVersion

FOLDER = Path(__file__).parent / "jsonschema"
RECORDS: dict[str, type[Record]] = {
    "observation": Observation,
    "analysis": Analysis,
    "state-version": StateVersion,
    "assessment": Assessment,
    "quarantined": Quarantined,
}
"""The records that have a schema of their own, by the name of its file."""
EXAMPLE: dict[str, Any] = {
    "schema": 1,
    "tenant": "default",
    "subject": "host:10.0.0.5",
    "kind": "zeek.conn",
    "at": 1588248000123456,
    "origin": "sensor-1",
    "content": {
        "data": {
            "ts": 1588248000.123456,
            "id.orig_h": "10.0.0.5",
            "id.orig_p": 49733,
            "id.resp_h": "203.0.113.9",
            "id.resp_p": 443,
            "proto": "tcp",
            "conn_state": "SF",
        }
    },
}
"""An observation as a producer writes it: without an id."""

_CONTENT = ("data", "text", "sealed")
_TYPES = {"data": "object", "text": "string", "sealed": "string"}
_RULES: dict[str, dict[str, Any]] = {
    "Observation": {"subject": {"minLength": 1, "maxLength": SUBJECT_LIMIT, "pattern": r"^\S(.*\S)?$"}},
}
"""What the models check in code, said in JSON Schema."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the record with this name of RECORDS."""
    schema = RECORDS[name].model_json_schema(by_alias=True, mode="validation")
    definitions = {RECORDS[name].__name__: schema} | schema.get("$defs", {})
    for model, definition in definitions.items():
        _complete(model, definition)
    if name == "observation":
        schema["examples"] = [EXAMPLE]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:casetape:schema:{name}:v{SCHEMA}",
    }
    return head | schema


def _complete(model: str, definition: dict[str, Any]) -> None:
    texts, rules = DESCRIPTIONS[model], _RULES.get(model, {})
    for field, about in definition["properties"].items():
        about["description"] = texts[field]
        about.update(rules.get(field, {}))
    if model == "ObservationContent":
        definition["oneOf"] = [_only(field) for field in _CONTENT]


def _only(given: str) -> dict[str, Any]:
    """Just this one of the ways to give a content: the others are missing or null."""
    fields = {field: {"type": _TYPES[field] if field == given else "null"} for field in _CONTENT}
    return {"required": [given], "properties": fields}


def exported() -> dict[str, str]:
    """By file name: the text of each schema's file."""
    return {
        f"{name}.v{SCHEMA}.json": json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n" for name in RECORDS
    }


def main() -> None:
    """Writes the files. Raises OSError where the folder cannot be written."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in exported().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
