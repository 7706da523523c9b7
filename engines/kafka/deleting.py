"""Deleting everything of a prefix, for good."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from kafka import KafkaAdminClient
from kafka.admin import MemberToRemove

from engines.kafka.connection import Connection
from schemas.errors import EngineError

_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.05
_OK, _GONE, _TAKEN = "OK", "GroupIdNotFoundError", "NonEmptyGroupError"


def delete_topics(connection: Connection) -> None:
    """Deletes all topics of the prefix."""
    start = connection.topic("")
    names = [
        name for name in connection.call("list topics", lambda admin: admin.list_topics()) if name.startswith(start)
    ]
    if names:
        connection.call("delete topics", lambda admin: admin.delete_topics(names))


def delete_groups(connection: Connection) -> None:
    """Deletes all groups of the prefix. Raises EngineError where one has living members."""
    start = connection.group("")
    found = connection.call("list groups", lambda admin: admin.list_groups())
    left = [one["group_id"] for one in found if one["group_id"].startswith(start)]
    until = time.monotonic() + _PATIENCE_SECONDS
    while left:
        told = _delete(connection, left)
        left = [name for name, answer in told.items() if answer not in (_OK, _GONE)]
        if left and (time.monotonic() > until or any(told[name] != _TAKEN for name in left)):
            reasons = sorted({told[name] for name in left})
            raise EngineError(f"could not delete group {', '.join(left)} ({', '.join(reasons)}): stop its members")
        for name in left:
            _empty(connection, name)
            time.sleep(_PAUSE_SECONDS)


def delete_group(connection: Connection, name: str) -> None:
    """Deletes a group that has no members; one that is gone is gone. Raises EngineError."""
    answer = _delete(connection, [name])[name]
    if answer not in (_OK, _GONE):
        raise EngineError(f"could not forget group {name} ({answer})")


def _delete(connection: Connection, names: Sequence[str]) -> Mapping[str, str]:
    """By group: what the broker says to its deletion."""
    answers: Mapping[str, str] = connection.call("delete groups", lambda admin: admin.delete_groups(list(names)))
    return answers


def _empty(connection: Connection, group: str) -> None:
    """Puts out the members: the dead would stay until their session is over; one that lives comes back."""
    connection.call(f"empty group `{group}`", lambda admin: _put_out(admin, group))


def _put_out(admin: KafkaAdminClient, group: str) -> None:
    members = admin.describe_groups([group])[group]["members"]
    static = [MemberToRemove(group_instance_id=one["group_instance_id"]) for one in members if one["group_instance_id"]]
    dynamic = [MemberToRemove(member_id=one["member_id"]) for one in members if not one["group_instance_id"]]
    if members:
        admin.remove_group_members(group, dynamic + static)
