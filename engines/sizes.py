"""What takes how much room, for whoever looks after a home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Size:
    """How many there are, and how many bytes they take as they are stored, without indexes."""

    count: int
    bytes: int


class StoreSizes(NamedTuple):
    """What a store keeps. `versions`: merged versions with their contents; `pruned`: how many more are only on the
    tape, of which the store still has the `remains`, contents that are current or were when it let go; `contents`: how
    many it knows of, kept or not; `parts` by owner; `notes` by the first segment of their key."""

    cases: int
    versions: Size
    pruned: int
    remains: Size
    contents: int
    snapshots: Size
    parts: Mapping[str, Size]
    notes: Mapping[str, Size]


class SpaceUse(NamedTuple):
    """Bytes: the file on the disk, its `data` as of now (which the disk follows), of which `free` hold nothing and are
    used again; `beside`: what lies next to the file until it is written back."""

    path: str
    file: int
    data: int
    free: int
    beside: int


class Space(Protocol):
    """The disk under an engine that looks after its own."""

    def use(self) -> SpaceUse:
        """How much of it is taken."""
        ...

    def give_back(self, most: int) -> int:
        """Gives about `most` bytes that hold nothing back to the disk, where there are more of them than are worth
        keeping for what comes next, and writes back what lies beside where it has grown long. Returns how many bytes
        went; call it again where it is not 0."""
        ...
