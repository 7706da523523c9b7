"""What a member has handled, until the broker has noted it.

While a group shares out its partitions anew, its members cannot commit. A commit in that time is kept and written as
soon as the group is settled, before a partition is handed back at the latest: a member that dies before has its records
delivered again, which is as if it had died a little earlier.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as KafkaPartition

from engines.kafka.connection import Connection
from engines.kafka.faults import between, put_out, translated
from engines.kafka.groups import note


class Commits:
    """The commits of one member."""

    def __init__(self, connection: Connection, client: KafkaConsumer, group: str) -> None:
        self._connection = connection
        self._client = client
        self._group = group
        self._waiting: dict[KafkaPartition, OffsetAndMetadata] = {}

    @property
    def wait(self) -> bool:
        """Whether some are not written yet."""
        return bool(self._waiting)

    def write(self, offsets: Mapping[KafkaPartition, tuple[int, int]], seconds: float) -> bool:
        """Writes these, each with the generation of its owner, and those that wait, or keeps them all for later. False
        where the group no longer knows the member. Raises EngineUnavailable where no broker notes them in `seconds`."""
        told = {at: OffsetAndMetadata(offset, note(generation), -1) for at, (offset, generation) in offsets.items()}
        told = {**self._waiting, **told}
        try:
            self._client.commit(told, timeout_ms=seconds * 1_000)
        except KafkaError as error:
            if between(error):
                self._waiting = told
                return True
            if put_out(error):
                return False
            raise translated(error, self._connection.options, f"commit for group `{self._group}`") from error
        self._waiting = {}
        return True

    def forget(self, at: KafkaPartition) -> None:
        """Lets go of what waits for a partition that is another's now."""
        self._waiting.pop(at, None)
