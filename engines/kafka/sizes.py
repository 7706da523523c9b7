"""How many bytes records take as the broker stores them.

A broker tells the bytes of a partition's segments, whole ones: records that were deleted count until the last of their
segment is. Where the oldest record kept is the first ever, that figure is right. Else some batches are looked at, as
they are stored, at places spread over the partition: their mean, times the records kept, is right to a few per cent
where records are alike, and is never more than the segments take.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka import KafkaAdminClient
from kafka.errors import NoError, OffsetOutOfRangeError, for_code
from kafka.protocol.consumer import FetchRequest
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.connection import Connection
from engines.kafka.topic import Topic

_PLACES = 8
_LOOK_BYTES = 64 * 1024
_HEAD = struct.Struct(">qiiBIhi")
"""A batch's first offset, its length beyond these two fields, leader epoch, magic, checksum, attributes, and the
offset of its last record counted from its first."""
_BEFORE_LENGTH = 12


class Stored(NamedTuple):
    """A batch as it is stored: its first and last offset, and its length in bytes."""

    first: int
    last: int
    length: int


def batches(raw: bytes) -> Iterator[Stored]:
    """The batches that lie whole in what a broker sent; the last may be cut off."""
    place = 0
    while place + _HEAD.size <= len(raw):
        first, length, _, magic, _, _, delta = _HEAD.unpack_from(raw, place)
        whole = _BEFORE_LENGTH + length
        if magic != 2 or place + whole > len(raw):
            return
        yield Stored(first, first + delta, whole)
        place += whole


class Sizes:
    """Sizes of the partitions of one log."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def segments(self, topic: Topic) -> dict[int, int]:
        """By partition: the bytes that its segments take in its leader's copy."""
        return self._connection.call(
            f"ask for the sizes of topic `{topic.full}`", lambda admin: _segments(admin, topic)
        )

    def kept(self, topic: Topic, partition: int, start: int, end: int, segments: int) -> int:
        """Bytes of the records from `start` up to `end`, of which there are the oldest kept and the next to come;
        `segments`: what its segments take."""
        if start >= end:
            return 0
        if start == 0:
            return segments
        looked, length = 0, 0
        after = start
        for place in range(_PLACES):
            offset = start + (end - start) * place // _PLACES
            if offset < after:
                continue
            for batch in self._look(topic, partition, offset):
                if batch.last >= after:
                    looked += batch.last - max(batch.first, after) + 1
                    length += (
                        batch.length * (batch.last - max(batch.first, after) + 1) // (batch.last - batch.first + 1)
                    )
                    after = batch.last + 1
        return min(segments, length * (end - start) // looked) if looked else segments

    def _look(self, topic: Topic, partition: int, offset: int) -> list[Stored]:
        return self._connection.call(
            f"look into topic `{topic.full}`", lambda admin: list(batches(_fetch(admin, topic, partition, offset)))
        )


def _segments(admin: KafkaAdminClient, topic: Topic) -> dict[int, int]:
    (described,) = admin.describe_topics([topic.full])
    leaders = {one["partition_index"]: one["leader_id"] for one in described["partitions"]}
    found = dict.fromkeys(leaders, 0)
    for broker in admin.describe_log_dirs({topic.full: list(leaders)}):
        for folder in broker["log_dirs"]:
            for one in (one for held in folder["topics"] for one in held["partitions"]):
                if leaders.get(one["partition_index"]) == broker["broker"] and not one["is_future_key"]:
                    found[one["partition_index"]] += one["partition_size"]
    return found


def _fetch(admin: KafkaAdminClient, topic: Topic, partition: int, offset: int) -> bytes:
    """What the leader has from `offset` on, raw. No public call of the client hands out batches unopened."""
    (described,) = admin.describe_topics([topic.full])
    leader = {one["partition_index"]: one["leader_id"] for one in described["partitions"]}[partition]
    wanted = FetchRequest.FetchTopic.FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=_LOOK_BYTES
    )
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=_LOOK_BYTES,
        topics=[FetchRequest.FetchTopic(topic=topic.full, partitions=[wanted])],
        max_version=12,
    )
    answer = admin._manager.run(admin._manager.send, request, leader)
    (told,) = (one for found in answer.responses for one in found.partitions)
    error = for_code(told.error_code)
    if error is OffsetOutOfRangeError:
        # another process has trimmed it just now
        return b""
    if error is not NoError:
        raise error(KafkaPartition(topic.full, partition))
    return bytes(told.records or b"")
