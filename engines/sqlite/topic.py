"""Topics: made once, never changed, so that what was read of them stays true."""

from __future__ import annotations

from typing import NamedTuple

from engines.sqlite.connection import Database
from schemas.errors import EngineError, UnknownTopic, UsageError


class Topic(NamedTuple):
    """A topic as the tables know it."""

    id: int
    name: str
    partitions: int


class Topics:
    """The topics of one file, by name."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Topic] = {}

    def get(self, name: str) -> Topic:
        """The topic. Raises UnknownTopic."""
        known = self._known.get(name)
        if known is None:
            row = self._database.row("SELECT id, name, partitions FROM topics WHERE name = ?", (name,))
            if row is None:
                raise UnknownTopic(f"there is no topic `{name}` in {self._database.path}")
            known = self._known[name] = Topic(*row)
        return known

    def create(self, name: str, partitions: int) -> None:
        """Makes the topic where it is missing. Raises EngineError where it has another number of partitions."""
        if partitions < 1:
            raise UsageError(f"topic `{name}` needs at least one partition, not {partitions}")
        row = self._database.row("SELECT partitions FROM topics WHERE name = ?", (name,))
        if row is None:
            with self._database.writing() as connection:
                made = connection.execute(
                    "INSERT INTO topics (name, partitions) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, partitions)
                )
                if made.rowcount:
                    connection.executemany(
                        "INSERT INTO partitions (topic_id, partition) VALUES (?, ?)",
                        [(made.lastrowid, partition) for partition in range(partitions)],
                    )
        there = self.get(name).partitions
        if there != partitions:
            raise EngineError(f"topic `{name}` has {there} partitions, not {partitions}; they cannot be changed")
