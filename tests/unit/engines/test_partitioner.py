"""Which partition a key gets: as Kafka's Java client decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.partitioner import murmur2, partition_of


def signed(value: int) -> int:
    """As Java prints a 32-bit integer."""
    return value - 2**32 if value >= 2**31 else value


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_the_values_that_kafka_tests_its_own_with(data: str, expected: int) -> None:
    assert signed(murmur2(data.encode())) == expected


@pytest.mark.parametrize(("key", "partition"), [("21", 1_173_551_340 % 8), ("abc", 479_470_107 % 8)])
def test_the_sign_is_cut_off_before_the_remainder(key: str, partition: int) -> None:
    assert partition_of(key, 8) == partition


@given(st.binary())
def test_it_has_32_bits(data: bytes) -> None:
    assert 0 <= murmur2(data) < 2**32


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 1000))
def test_a_key_has_one_partition(key: str, partitions: int) -> None:
    found = partition_of(key, partitions)
    assert 0 <= found < partitions
    assert found == partition_of(key, partitions) == (murmur2(key.encode("utf-8")) & 0x7FFFFFFF) % partitions


def test_the_keys_of_cases_spread() -> None:
    counts = [0] * 8
    for number in range(8000):
        counts[partition_of(f"default/host:10.0.{number // 256}.{number % 256}", 8)] += 1
    assert 800 < min(counts) <= max(counts) < 1200
