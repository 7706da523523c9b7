"""The records by name, and the bytes of each as they lie on the tape."""

from __future__ import annotations

from schemas.export import RECORDS
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from schemas.record import Record
from schemas.version import StateVersion

NAMES = tuple(RECORDS)


def encoded(record: Record) -> bytes:
    """The record's bytes on the tape; of what travels inside a version only, those it has there."""
    plain = not (isinstance(record, Observation) and record.content.sealed is not None)
    if plain and isinstance(record, Observation | StateVersion | Quarantined):
        return record.encode()
    return record.model_dump_json(by_alias=True).encode()
