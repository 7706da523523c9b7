"""Opening the tape on Kafka, and deleting it."""

from __future__ import annotations

from contextlib import closing

from engines.kafka.connection import Connection
from engines.kafka.deleting import delete_groups, delete_topics
from engines.kafka.log import KafkaLog
from engines.kafka.options import KafkaOptions
from schemas.errors import UsageError


def open_log(options: KafkaOptions, *, session_seconds: float = 30.0) -> KafkaLog:
    """The log of a prefix. `session_seconds`: how long a member of a group may be silent before its partitions move
    on. Raises EngineUnavailable where no broker answers within `reach_seconds`, AccessDenied where it refuses the user,
    EngineError where it is too old."""
    connection = Connection(options)
    try:
        connection.open()
    except BaseException:
        connection.close()
        raise
    return KafkaLog(connection, session_seconds)


def delete_all(options: KafkaOptions) -> None:
    """Deletes every topic and group of the prefix, for good. Raises EngineError where a group has members still, and
    UsageError without a prefix: everything on the brokers would match."""
    if not options.prefix:
        raise UsageError("without a prefix nothing is deleted: it would be everything on the brokers")
    with closing(Connection(options)) as connection:
        delete_topics(connection)
        delete_groups(connection)
