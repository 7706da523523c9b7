"""Canonical bytes: one form for a JSON value, the same however it was written and in whatever language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.canonical import canonical_bytes, reference_bytes
from schemas.digests import OBSERVATION, digest
from schemas.errors import NotCanonical
from tests.strategies import floats, json_values, objects

TABLE = json.loads((Path(__file__).parents[2] / "fixtures" / "canonical.json").read_text(encoding="utf-8"))


def _named(rows: list[dict[str, str]]) -> list[Any]:
    return [pytest.param(row, id=row["name"]) for row in rows]


@pytest.mark.parametrize("row", _named(TABLE["vectors"]))
def test_the_published_vectors(row: dict[str, str]) -> None:
    value = json.loads(row["json"])
    assert canonical_bytes(value).decode() == row["canonical"]
    assert reference_bytes(value).decode() == row["canonical"]
    assert digest(OBSERVATION, canonical_bytes(value)) == row["id"]


@pytest.mark.parametrize("row", _named(TABLE["refused"]))
@pytest.mark.parametrize("form", [canonical_bytes, reference_bytes])
def test_what_has_no_form_is_refused(form: Any, row: dict[str, str]) -> None:
    with pytest.raises((NotCanonical, UnicodeEncodeError) if form is reference_bytes else NotCanonical):
        form(json.loads(row["json"]))


@given(json_values)
def test_the_fast_path_is_the_definition(value: Any) -> None:
    assert canonical_bytes(value) == reference_bytes(value)


@given(floats)
def test_the_fast_path_is_the_definition_for_floats(value: float) -> None:
    out = canonical_bytes(value)
    assert out == reference_bytes(value)
    back = json.loads(out)
    assert (repr(back), type(back)) == (repr(value), float)


@given(st.integers())
def test_integers_of_any_length_keep_all_digits(value: int) -> None:
    assert canonical_bytes(value) == str(value).encode()


@given(objects, st.randoms(use_true_random=False))
def test_neither_order_nor_spacing_of_the_source_matters(value: dict[str, Any], random: Any) -> None:
    shuffled = list(value.items())
    random.shuffle(shuffled)
    source = json.dumps(dict(shuffled), indent=2, ensure_ascii=True)
    assert canonical_bytes(json.loads(source)) == canonical_bytes(value)


@given(json_values)
def test_the_form_of_the_form_is_itself(value: Any) -> None:
    out = canonical_bytes(value)
    assert canonical_bytes(json.loads(out)) == out


@given(json_values, st.sampled_from([float("nan"), float("inf"), float("-inf"), "\ud800", "a\udfffb"]))
def test_what_has_no_form_is_found_at_any_depth(beside: Any, bad: Any) -> None:
    for value in (bad, [beside, bad], {"a": beside, "b": {"c": [bad]}}):
        with pytest.raises(NotCanonical):
            canonical_bytes(value)


def test_too_deep_a_value_is_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotCanonical):
        canonical_bytes(value)


@pytest.mark.parametrize("bad", [float("nan"), "\ud800", object()], ids=["NaN", "half a pair", "no JSON"])
def test_the_message_never_holds_the_value(bad: Any) -> None:
    canary = "canary-5f0d"
    with pytest.raises(NotCanonical) as caught:
        canonical_bytes({canary: canary, "bad": [canary, bad]})
    assert canary not in str(caught.value)
