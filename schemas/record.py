"""What every record on the tape has in common: strict models, one schema version, errors that name the field."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from schemas.canonical import Json
from schemas.errors import RecordInvalid, UnknownType

SCHEMA = 1
CONTENT_LIMIT = 900 * 1024
"""A record holds at most this many bytes of content; topics allow 2 MiB."""
INT64 = 2**63


class Record(BaseModel):
    """The base of all records: immutable, and refusing what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="strings")

    @classmethod
    def parse(cls, value: bytes) -> Self:
        """The record that these bytes hold.

        Raises UnknownType for a missing or unknown schema version, RecordInvalid otherwise; the message names the
        field's path and what is wrong with it, never the value.
        """
        try:
            # what `model_validate_json` calls: in a merger, its own looking at options would be a tenth of all work
            record: Self = cls.__pydantic_validator__.validate_json(value)
        except ValidationError as error:
            raise _explained(cls.__name__, error) from None
        if "schema_" not in record.model_fields_set and "schema_" in cls.model_fields:
            raise UnknownType(f"not a valid {cls.__name__} record (schema: Field required)")
        return record

    @classmethod
    def load(cls, body: Json) -> Self:
        """The same for a record that has been read from JSON already."""
        return cls.parse(to_json(body))

    def in_full(self) -> bytes:
        """Its JSON with all fields in the order of the model, as it stands inside other records."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


def _explained(name: str, error: ValidationError) -> RecordInvalid | UnknownType:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    said = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'record'}: {fault['msg']}" for fault in faults[:3]
    )
    unknown = any(fault["loc"] == ("schema",) for fault in faults)
    kind = UnknownType if unknown else RecordInvalid
    return kind(f"not a valid {name} record ({said})")


def depth(value: Json) -> int:
    """How many levels of objects and arrays `value` has; 0 for a scalar."""
    level, here = 0, [value]
    while here := [one for one in here if isinstance(one, dict | list)]:
        level += 1
        here = [inner for one in here for inner in (one.values() if isinstance(one, dict) else one)]
    return level


def read_json(line: bytes) -> Any:
    """The JSON value of `line`, integers of any length kept exactly.

    Raises RecordInvalid (bad JSON, bad UTF-8, NaN, too deeply nested), naming the place and never the value.
    """
    try:
        return from_json(line, allow_inf_nan=False)
    except ValueError as error:
        raise RecordInvalid(f"not JSON: {error}") from None
