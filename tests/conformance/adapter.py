"""What the kit asks of an engine. A new engine adds one file to `adapters/` and one line to `ADAPTERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from engines.engine import Engine
from tests.conformance.adapters.cluster import ClusterAdapter
from tests.conformance.adapters.sqlite import SqliteAdapter


class Adapter(Protocol):
    """An engine with nothing in it, that any number of processes can open."""

    name: str
    short_session: float
    """The shortest session, in seconds, that the engine takes: tests of members that die wait as long."""
    place: str
    """Where its data lies (a folder, a prefix of topics and keys): another process opens the same with it."""

    def open(self, session_seconds: float = 30.0) -> Engine:
        """Another engine on the same data."""
        ...

    def clear(self) -> None:
        """Removes the data."""
        ...


ADAPTERS: Mapping[str, Callable[[str], Adapter]] = {"cluster": ClusterAdapter, "sqlite": SqliteAdapter}
