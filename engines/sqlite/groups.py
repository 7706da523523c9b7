"""How a group's partitions are shared among its members: the maths (pure), and the tables behind it."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from engines.log import TopicPartition
from engines.sqlite.alive import is_gone, this_process
from engines.sqlite.connection import Database


def share_out(
    partitions: Sequence[TopicPartition], members: Mapping[str, Collection[str]], owners: Mapping[TopicPartition, str]
) -> dict[TopicPartition, str]:
    """Who should own what: by partition, the member.

    `members`: by member, its topics; `owners`: who owns what now. Every partition whose topic a member wants gets one;
    no partition has an owner with two more than another member that could take it; as few as possible move.
    """
    shares: dict[TopicPartition, str] = {}
    held: dict[str, list[TopicPartition]] = {member: [] for member in sorted(members)}
    for at in sorted(partitions):
        owner = owners.get(at)
        if owner is not None and at.topic in members.get(owner, ()):
            shares[at] = owner
            held[owner].append(at)
    for at in sorted(partitions):
        takers = [member for member in held if at.topic in members[member]]
        if at not in shares and takers:
            taker = min(takers, key=lambda member: len(held[member]))
            shares[at] = taker
            held[taker].append(at)
    while (move := _levelling(held, members)) is not None:
        at, taker = move
        held[shares[at]].remove(at)
        held[taker].append(at)
        shares[at] = taker
    return shares


def _levelling(
    held: Mapping[str, Sequence[TopicPartition]], members: Mapping[str, Collection[str]]
) -> tuple[TopicPartition, str] | None:
    """A partition whose owner has two more than a member that could take it, and that member."""
    by_load = sorted(held, key=lambda member: len(held[member]))
    for giver in reversed(by_load):
        for taker in by_load:
            if len(held[giver]) - len(held[taker]) < 2:
                break
            for at in reversed(held[giver]):
                if at.topic in members[taker]:
                    return at, taker
    return None


def new_member() -> str:
    """A name for a member of this process, which no other has."""
    return f"{uuid.uuid4().hex}@{this_process()}"


def process_of(member: str) -> str:
    """The process of a member; empty where its name does not say."""
    return member.partition("@")[2]


class Share(NamedTuple):
    """A partition as the group holds it."""

    owner: str | None
    generation: int


class Group:
    """The tables of one group. What gets a connection runs inside the caller's write transaction."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = 0

    def join(
        self,
        connection: sqlite3.Connection,
        member: str,
        topics: Sequence[tuple[int, str, int]],
        now: int,
        session: int,
    ) -> None:
        """Adds the member, and the group and its shares where they are new. `topics`: id, name, partitions."""
        connection.execute("INSERT INTO groups (name) VALUES (?) ON CONFLICT DO NOTHING", (self.name,))
        (self.id,) = connection.execute("SELECT id FROM groups WHERE name = ?", (self.name,)).fetchone()
        connection.executemany(
            "INSERT INTO shares (group_id, topic_id, partition) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(self.id, topic_id, number) for topic_id, _, partitions in topics for number in range(partitions)],
        )
        names = json.dumps(sorted(name for _, name, _ in topics))
        connection.execute(
            "INSERT INTO members VALUES (?, ?, ?, ?, ?)", (self.id, member, now + session, session, names)
        )
        self.changed(connection)

    def changed(self, connection: sqlite3.Connection) -> None:
        """Lets every member know that it has to look."""
        connection.execute("UPDATE groups SET epoch = epoch + 1 WHERE id = ?", (self.id,))

    def epoch(self, connection: sqlite3.Connection) -> int:
        """Which change of the group this is."""
        (epoch,) = connection.execute("SELECT epoch FROM groups WHERE id = ?", (self.id,)).fetchone()
        return int(epoch)

    def glance(self, database: Database) -> tuple[int, int | None]:
        """Which change of the group this is, and when the first lease ends."""
        epoch, soonest = database.row(
            "SELECT epoch, (SELECT min(lease_until) FROM members WHERE group_id = ?1) FROM groups WHERE id = ?1",
            (self.id,),
        )
        return epoch, soonest

    def has(self, database: Database, member: str) -> bool:
        """Whether it is a member still."""
        found = database.row("SELECT 1 FROM members WHERE group_id = ? AND member = ?", (self.id, member))
        return found is not None

    def renew(self, connection: sqlite3.Connection, member: str, now: int) -> bool:
        """Prolongs the member's lease, and cuts those that no clock of today could have given; False where it is no
        member any more."""
        # a clock that was set back must not keep the dead alive for as long
        connection.execute(
            "UPDATE members SET lease_until = ?1 + session WHERE group_id = ?2 AND lease_until > ?1 + session",
            (now, self.id),
        )
        renewed = connection.execute(
            "UPDATE members SET lease_until = ? + session WHERE group_id = ? AND member = ?", (now, self.id, member)
        )
        return renewed.rowcount == 1

    def expire(self, connection: sqlite3.Connection, now: int) -> None:
        """Removes the members whose lease is over, or whose process has ended, and frees what they owned."""
        rows = connection.execute("SELECT member, lease_until FROM members WHERE group_id = ?", (self.id,)).fetchall()
        for member in [member for member, lease in rows if lease < now or is_gone(process_of(member))]:
            self.leave(connection, member)

    def bereaved(self, database: Database) -> bool:
        """Whether the process of a member has ended."""
        rows = database.rows("SELECT member FROM members WHERE group_id = ?", (self.id,))
        return any(is_gone(process_of(member)) for (member,) in rows)

    def members(self, connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
        """By member: its topics."""
        rows = connection.execute("SELECT member, topics FROM members WHERE group_id = ?", (self.id,))
        return {member: frozenset(json.loads(topics)) for member, topics in rows}

    def shares(self, connection: sqlite3.Connection) -> dict[TopicPartition, Share]:
        """Every partition of every topic that the group has read."""
        rows = connection.execute(
            "SELECT t.name, s.partition, s.owner, s.generation FROM shares s JOIN topics t ON t.id = s.topic_id"
            " WHERE s.group_id = ?",
            (self.id,),
        )
        return {
            TopicPartition(topic, partition): Share(owner, generation) for topic, partition, owner, generation in rows
        }

    def take(self, connection: sqlite3.Connection, topic_id: int, at: TopicPartition, member: str) -> tuple[int, int]:
        """Makes the member the owner: its generation, and what the group has committed (0 where it never did)."""
        generation, committed = connection.execute(
            "UPDATE shares SET owner = ?, generation = generation + 1"
            " WHERE group_id = ? AND topic_id = ? AND partition = ? RETURNING generation, committed",
            (member, self.id, topic_id, at.partition),
        ).fetchone()
        return generation, committed or 0

    def release(self, connection: sqlite3.Connection, topic_id: int, at: TopicPartition, member: str) -> None:
        """Frees a partition that the member owns."""
        connection.execute(
            "UPDATE shares SET owner = NULL WHERE group_id = ? AND topic_id = ? AND partition = ? AND owner = ?",
            (self.id, topic_id, at.partition, member),
        )

    def leave(self, connection: sqlite3.Connection, member: str) -> None:
        """Removes the member, and frees what it owned."""
        connection.execute("DELETE FROM members WHERE group_id = ? AND member = ?", (self.id, member))
        connection.execute("UPDATE shares SET owner = NULL WHERE group_id = ? AND owner = ?", (self.id, member))
        self.changed(connection)
