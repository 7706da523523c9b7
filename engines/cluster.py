"""The cluster engine: the tape on Kafka and the store on Redis, for many machines."""

from __future__ import annotations

from engines.engine import Engine
from engines.kafka import delete_all as delete_topics
from engines.kafka import open_log
from engines.opening import ClusterOptions
from engines.redis import delete_all as delete_keys
from engines.redis import open_store

__all__ = ["ClusterOptions", "clear", "open_engine"]


def open_engine(options: ClusterOptions, *, session_seconds: float = 30.0) -> Engine:
    """Both ports on running servers. `session_seconds`: how long a member of a group may be silent before its
    partitions move on. Raises EngineUnavailable where one does not answer,
    AccessDenied where it refuses the user, EngineError where it is too old."""
    log = open_log(options.kafka, session_seconds=session_seconds)
    try:
        return Engine(log, open_store(options.redis))
    except BaseException:
        log.close()
        raise


def clear(options: ClusterOptions) -> None:
    """Deletes every topic, group and key of the prefix, for good."""
    delete_topics(options.kafka)
    delete_keys(options.redis)
