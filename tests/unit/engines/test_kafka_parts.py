"""The pure parts of the log on Kafka: numbers of ownerships, batches as they are stored, records as they are read."""

from __future__ import annotations

import itertools
import struct
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.future import Future
from kafka.record.memory_records import MemoryRecordsBuilder

from engines.kafka.groups import next_generation, note
from engines.kafka.joining import _Answer
from engines.kafka.reading import to_records
from engines.kafka.sizes import Stored, batches
from engines.log import LogRecord


@given(st.lists(st.integers(0, 2**62), min_size=2, max_size=20))
def test_every_owner_that_committed_is_followed_by_a_greater_number(clocks: list[int]) -> None:
    """Whatever the clocks say."""
    noted, numbers = "", []
    for now in clocks:
        numbers.append(next_generation(noted, now))
        noted = note(numbers[-1])
    assert all(later > earlier for earlier, later in itertools.pairwise(numbers))
    assert all(number >= now for number, now in zip(numbers, clocks, strict=True))


@pytest.mark.parametrize("foreign", [None, "", "by hand", "casetape", "casetape -1", "casetape 99999999999999999999"])
def test_a_foreign_note_counts_for_nothing(foreign: str | None) -> None:
    assert next_generation(foreign, 7) == 7


def built(first: int, count: int) -> bytes:
    """A batch as a broker stores it."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 20)
    for number in range(count):
        builder.append(timestamp=number, key=b"k", value=b"v" * 100)
    builder.close()
    raw = bytearray(builder.buffer())
    struct.pack_into(">q", raw, 0, first)
    return bytes(raw)


def test_stored_batches_tell_their_offsets_and_lengths() -> None:
    one, two = built(40, 3), built(50, 1)
    assert list(batches(one + two)) == [Stored(40, 42, len(one)), Stored(50, 50, len(two))]
    assert list(batches(one + two[:-1])) == [Stored(40, 42, len(one))]
    assert list(batches(one[:20])) == []
    assert list(batches(b"")) == []


class Read(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


def test_records_of_foreign_producers_are_read_as_far_as_they_go() -> None:
    good = Read(1, b"acme/a", b"x", 5)
    assert to_records([good]) == [LogRecord(1, "acme/a", b"x", 5_000)]
    odd = [good, Read(2, None, b"y", 6), Read(3, b"\xff", None, 7)]
    assert to_records(odd) == [
        LogRecord(1, "acme/a", b"x", 5_000),
        LogRecord(2, "", b"y", 6_000),
        LogRecord(3, "", b"", 7_000),
    ]


def test_the_answer_to_a_join_is_not_thrown_away() -> None:
    """The client starts another join where `is_done` says so."""
    task = Future()
    answer = _Answer(task)
    assert not answer.is_done
    task.success(b"assignment")
    assert not answer.is_done
    got: list[bytes] = []
    answer.add_callback(got.append)
    assert got == [b"assignment"]
    failed = Future()
    failed.failure(ValueError())
    assert _Answer(failed).is_done
