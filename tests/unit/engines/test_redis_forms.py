"""How values lie in Redis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.redis import forms
from engines.store import CaseOrder, CaseRow, StoredContent, StoredVersion
from schemas.errors import EngineError
from tests.conformance.lines import made_id, row

LARGEST = 2**63 - 1
ids = st.one_of(st.text(), st.integers().map(lambda number: made_id("ver", number)))
rows = st.builds(
    lambda key, score, updated_at, subject: row(f"acme/{key}", 7, made_id("ver", key))._replace(
        score=score, updated_at=updated_at, subject=subject
    ),
    st.text("abc-:%1é", min_size=1, max_size=4),
    st.integers(0, 3) | st.integers(0, 10**6),
    st.integers(0, 3) | st.integers(0, LARGEST),
    st.text(min_size=1),
)


@given(ids)
def test_ids_come_back(identifier: str) -> None:
    assert forms.long(forms.short(identifier)) == identifier


@given(ids, ids)
def test_two_ids_are_never_one(one: str, other: str) -> None:
    assert (forms.short(one) == forms.short(other)) == (one == other)


@given(st.binary() | st.binary(max_size=4).map(lambda raw: raw * 500))
def test_blobs_come_back(raw: bytes) -> None:
    assert forms.unblob(forms.blob(raw)) == raw
    assert len(forms.blob(raw)) <= len(raw) + 1


@given(st.integers(0), ids, st.binary(), st.lists(st.tuples(st.text(), st.binary()), unique_by=lambda pair: pair[0]))
def test_versions_come_back(number: int, identifier: str, record: bytes, contents: list[tuple[str, bytes]]) -> None:
    one = StoredVersion(number, identifier[:60], record, [StoredContent(*pair) for pair in contents])
    assert forms.read_version(number, forms.version(one)) == one._replace(contents=())
    assert forms.read_brought(forms.brought(one.contents)) == dict(contents)


@pytest.mark.parametrize("kept", [b"", b"\x07", b"\x01", b"\x00\x00\x00", b"\x01\x00\x00\x00\x00junk", b"\x00" * 5])
def test_damage_is_said(kept: bytes) -> None:
    for read in (lambda: forms.read_brought(kept or b"x"), lambda: forms.read_version(1, b"\x00" + b"\x07" + kept)):
        with pytest.raises(EngineError, match="a stored block is"):
            read()


@given(rows)
def test_rows_come_back(one: CaseRow) -> None:
    kept = forms.place(one) + b"%d " % one.number + forms.row_rest(one).encode()
    assert forms.read_row(one.key, kept) == one
    fields = (one.number, forms.short(one.id), *one[5:], forms.subject_of(one))
    head = [field if isinstance(field, bytes) else str(field).encode() for field in fields]
    assert forms.read_head(one.key, head) == one


@pytest.mark.parametrize("order", ["score", "updated", "key"])
@given(held=st.lists(rows, unique_by=lambda row: row.key))
def test_members_lie_in_the_order_of_the_port(held: list[CaseRow], order: CaseOrder) -> None:
    by = {
        "score": lambda row: (-row.score, -row.updated_at, row.key),
        "updated": lambda row: (-row.updated_at, row.key),
        "key": lambda row: row.key,
    }
    assert sorted(held, key=lambda row: forms.member(row, order)) == sorted(held, key=by[order])
