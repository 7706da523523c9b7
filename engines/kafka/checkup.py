"""What is found when the brokers and topics are looked over: see `engines.checkup`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType

from engines.checkup import Finding
from engines.kafka.connection import Connection
from engines.topics import ALL, RECORD_LIMIT

_SAFE = {
    "cleanup.policy": ("delete", "versions of one case would be thrown away as if they replaced one another"),
    "retention.ms": ("-1", "the broker deletes records by age, handled or not; casetape trims by itself"),
    "retention.bytes": ("-1", "the broker deletes records by size, handled or not; casetape trims by itself"),
    "message.timestamp.type": ("LogAppendTime", "a producer's clock would stand for the time of the append"),
}


def look_over(connection: Connection) -> Iterator[Finding]:
    """Of the brokers and of each topic that is there. Raises EngineUnavailable, AccessDenied."""
    cluster = connection.call("ask for the brokers", lambda admin: admin.describe_cluster())
    brokers = [one for one in cluster["brokers"] if not one["is_fenced"]]
    yield Finding("Kafka", "ok", f"{len(brokers)} brokers at {connection.options.servers}")
    found = connection.call("look up the topics", lambda admin: admin.describe_topics(_names(connection)))
    there = {one["name"]: one for one in found if not one["error_code"]}
    settings = _settings(connection, sorted(there))
    for name, full in zip(ALL, _names(connection), strict=True):
        if full in there:
            yield from _topic(name, there[full]["partitions"], settings[full], len(brokers))
            wanted = connection.options.replication
            if (copies := min(len(one["replica_nodes"]) for one in there[full]["partitions"])) < wanted:
                yield Finding(f"topic {name}", "warning", f"{copies} copies, and `kafka.replication` asks for {wanted}")
    yield from _strays(connection)


def _names(connection: Connection) -> list[str]:
    return [connection.topic(name) for name in ALL]


def _settings(connection: Connection, names: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """By topic: all its settings."""
    wanted = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    if not wanted:
        return {}
    found = connection.call(
        "look up the topics' settings", lambda admin: admin.describe_configs(wanted, config_filter="all")
    )
    return {name: {key: one["value"] for key, one in held.items()} for name, held in found["topic"].items()}


def _topic(
    name: str, partitions: Sequence[Mapping[str, Any]], held: Mapping[str, Any], brokers: int
) -> Iterator[Finding]:
    about = f"topic {name}"
    for key, (good, why) in _SAFE.items():
        if held.get(key) != good:
            level = "warning" if key == "message.timestamp.type" else "fault"
            yield Finding(about, level, f"`{key}` is {held.get(key)}: {why}; set it to {good}")  # type: ignore[arg-type]  # one of the three words
    if int(held.get("max.message.bytes", 0)) < RECORD_LIMIT:
        yield Finding(
            about,
            "fault",
            f"`max.message.bytes` is {held.get('max.message.bytes')}, and records may have {RECORD_LIMIT:,}: raise it",
        )
    copies = min(len(one["replica_nodes"]) for one in partitions)
    behind = sum(len(one["isr_nodes"]) < len(one["replica_nodes"]) for one in partitions)
    if behind:
        yield Finding(about, "warning", f"{behind} partitions have a copy that does not keep up, or is down")
    if copies == 1 and brokers > 1:
        yield Finding(about, "warning", f"one copy on {brokers} brokers: a broker that is lost takes records with it")
    if copies > 1 and int(held.get("min.insync.replicas", 1)) < 2:
        yield Finding(about, "warning", "`min.insync.replicas` is 1: one copy's word is taken for all; set it to 2")
    if held.get("unclean.leader.election.enable") == "true":
        yield Finding(
            about, "fault", "`unclean.leader.election.enable` lets acknowledged records be lost: set it to false"
        )


def _strays(connection: Connection) -> Iterator[Finding]:
    """Topics under the prefix that casetape does not know."""
    known = set(_names(connection))
    start = connection.topic("")
    found = connection.call("list topics", lambda admin: admin.list_topics())
    strays = sorted(name for name in found if name.startswith(start) and name not in known)
    if strays and start:
        yield Finding("Kafka", "warning", f"topics under our prefix that are none of ours: {', '.join(strays[:6])}")
