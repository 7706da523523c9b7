"""Every field of every record survives the tape, and a change of one field loses no other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from schemas.export import RECORDS
from schemas.record import Record
from tests import strategies as make
from tests.records import NAMES, encoded

STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    "observation": make.observations | make.unidentified_observations.map(lambda one: one.proven(b"secret")),
    "analysis": make.analyses,
    "state-version": make.versions,
    "assessment": make.assessments,
    "quarantined": make.quarantined_records,
}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_what_is_written_is_read_back_whole(name: str, data: st.DataObject) -> None:
    record: Record = data.draw(STRATEGIES[name])
    back = type(record).parse(encoded(record))
    assert back == record
    assert encoded(back) == encoded(record)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_loading_from_json_is_parsing(name: str, data: st.DataObject) -> None:
    record: Record = data.draw(STRATEGIES[name])
    assert type(record).load(from_json(encoded(record))) == record


@given(record=make.sealed_observations)
def test_a_sealed_observation_is_read_back_whole(record: Record) -> None:
    assert type(record).parse(encoded(record)) == record


@pytest.mark.parametrize("name", NAMES)
def test_the_strategy_uses_every_field(name: str) -> None:
    """A field that the strategy leaves at its default would be tested by nothing above."""
    elsewhere = {"schema_", "key_id", "cut"}  # a constant, only of a sealed observation, only of large bytes
    optional = {f: i for f, i in RECORDS[name].model_fields.items() if not i.is_required() and f not in elsewhere}
    unused = {field: info.get_default(call_default_factory=True, validated_data={}) for field, info in optional.items()}

    @given(record=STRATEGIES[name])
    def look(record: Record) -> None:
        for field in [field for field, default in unused.items() if getattr(record, field) != default]:
            del unused[field]

    look()
    assert not unused


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_change_of_one_field_keeps_all_others(name: str, data: st.DataObject) -> None:
    one: Record = data.draw(STRATEGIES[name])
    other: Record = data.draw(STRATEGIES[name])
    field = data.draw(st.sampled_from(sorted(set(type(one).model_fields) - {"id", "schema_", "key_id"})))
    changed = one.model_copy(update={field: getattr(other, field)})
    back = type(changed).parse(changed.model_dump_json(by_alias=True).encode())
    for kept in type(one).model_fields:
        assert getattr(back, kept) == getattr(other if kept == field else one, kept)
