"""The embedded engine, as the conformance kit opens it."""

from __future__ import annotations

from pathlib import Path

from engines.engine import Engine
from engines.sqlite import open_engine


class SqliteAdapter:
    """One file in a folder of the test's own."""

    name = "sqlite"
    short_session = 1.0

    def __init__(self, place: str) -> None:
        self.place = place

    def open(self, session_seconds: float = 30.0) -> Engine:
        return open_engine(Path(self.place), session_seconds=session_seconds)

    def clear(self) -> None:
        """The folder is pytest's to remove."""
