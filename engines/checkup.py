"""What is found when an engine is looked over: each dependency, its version, and settings that would lose data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

Level = Literal["ok", "warning", "fault"]
"""`warning`: works, and could lose data or time on a bad day; `fault`: it does not work, or loses data today."""


class Finding(NamedTuple):
    """`about`: what was looked at (`Kafka`, `topic states`); `words`: what was found, and what to do where it is not
    `ok`."""

    about: str
    level: Level
    words: str


@runtime_checkable
class LooksOver(Protocol):
    """A log or a store that can be looked over."""

    def look_over(self) -> Sequence[Finding]:
        """What is found. Raises EngineUnavailable where it does not answer."""
        ...
