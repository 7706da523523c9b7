"""Which partition a key belongs to: murmur2 as Kafka's Java client computes it, so that one key stays in one partition
whoever writes it. Source: the public MurmurHash2 algorithm with Kafka's seed."""

from __future__ import annotations

from functools import lru_cache

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit MurmurHash2 of `data` with Kafka's seed, as an unsigned integer."""
    length = len(data)
    h = (_SEED ^ length) & _MASK
    whole = length & ~3
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * _M & _MASK
        k = (k ^ k >> 24) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    rest = data[whole:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15


@lru_cache(maxsize=65_536)
def partition_of(key: str, partitions: int) -> int:
    """The partition (0-based) of a key among this many."""
    return (murmur2(key.encode()) & 0x7FFFFFFF) % partitions
