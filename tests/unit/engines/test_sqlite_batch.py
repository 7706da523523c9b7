"""Framing and packing of records, and the short form of ids."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.log import NewRecord
from engines.sqlite.batch import FRAME_BYTES, PLAIN, ZSTD, frame, pack, split, unframe, unpack
from engines.sqlite.ids import pack_id, unpack_id
from schemas.errors import EngineError

records = st.lists(st.builds(NewRecord, st.text(max_size=20), st.binary(max_size=60)), max_size=40)
usual_ids = st.builds(
    "{}_{}".format, st.from_regex(r"[a-z]{3}", fullmatch=True), st.binary(min_size=32, max_size=32).map(bytes.hex)
)


@given(records)
def test_a_frame_gives_back_what_went_in(some: list[NewRecord]) -> None:
    keys, values = unframe(frame(some), len(some))
    assert list(zip(keys, values, strict=True)) == some


@given(records, st.integers(0, 50), st.integers(0, 50))
def test_a_part_of_a_frame_is_that_part(some: list[NewRecord], first: int, last: int) -> None:
    keys, values = unframe(frame(some), len(some), first, last)
    assert list(zip(keys, values, strict=True)) == some[first:last]


@given(st.one_of(st.binary(max_size=500), st.binary(min_size=1, max_size=9).map(lambda one: one * 400)))
def test_packing_gives_back_what_went_in_and_never_grows(raw: bytes) -> None:
    packed = pack(raw)
    assert unpack(*packed) == raw
    assert len(packed.body) <= len(raw)


def test_what_does_not_shrink_is_kept_plain() -> None:
    assert pack(random.Random(1).randbytes(10_000)).codec == PLAIN
    assert pack(bytes(10_000)).codec == ZSTD


@pytest.mark.parametrize(
    ("codec", "body"),
    [
        (7, b"x"),
        (ZSTD, b"no zstd at all"),
        (ZSTD, pack(bytes(10_000)).body[:-3]),
        (PLAIN, "a text, which SQLite would keep as well"),
    ],
)
def test_a_damaged_or_unknown_body_is_an_error(codec: int, body: bytes) -> None:
    with pytest.raises(EngineError, match="block"):
        unpack(codec, body)


@given(records, st.integers(0, 60))
def test_a_frame_read_by_another_count_is_an_error(some: list[NewRecord], count: int) -> None:
    raw = frame(some)
    if count == len(some):
        return
    try:
        keys, values = unframe(raw, count)
    except EngineError:
        return
    # a chance in which all lengths fit: the bytes are those of another frame
    assert frame(list(zip(keys, values, strict=True))) == raw


@given(records, st.data())
def test_a_damaged_frame_is_read_or_an_error_and_never_crashes(some: list[NewRecord], data: st.DataObject) -> None:
    raw = bytearray(frame(some))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    for damaged in (bytes(raw), cut):
        try:
            keys, values = unframe(damaged, len(some))
        except EngineError:
            continue
        assert frame(list(zip(keys, values, strict=True))) == damaged


def test_bytes_that_are_no_id_are_read_as_something_that_is_none() -> None:
    assert unpack_id(b"\xff\xfe\xfd" + bytes(2)) == "\\xff\\xfe\\xfd_0000"


@given(st.lists(st.integers(0, FRAME_BYTES * 2), max_size=12))
def test_frames_are_bounded_complete_and_in_order(sizes: list[int]) -> None:
    some = [NewRecord(str(place), bytes(size)) for place, size in enumerate(sizes)]
    parts = list(split(some))
    assert [record for part in parts for record in part] == some
    for part in parts:
        assert part
        assert len(part) == 1 or len(frame(part)) <= FRAME_BYTES + 100


@given(st.one_of(usual_ids, st.text(max_size=80), usual_ids.map(str.upper), usual_ids.map(lambda one: one + "0")))
def test_an_id_comes_back_from_its_short_form(identifier: str) -> None:
    assert unpack_id(pack_id(identifier)) == identifier


@given(usual_ids)
def test_the_usual_id_takes_35_bytes(identifier: str) -> None:
    kept = pack_id(identifier)
    assert isinstance(kept, bytes)
    assert len(kept) == 35
