"""What `casetape up` notes about itself, so that `casetape status` can tell: one note of the store, written every few
seconds and removed at a clean end."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engines.store import StateStore

KEY = "up"


class ServiceStanding(msgspec.Struct):
    """A service: its process (None while it waits to be started again), since when (microseconds), how often it was
    started again, why it stopped last."""

    name: str
    pid: int | None
    since: int | None
    restarts: int
    last: str | None


class StuckStanding(msgspec.Struct):
    """A partition on which a group makes no progress though records wait."""

    group: str
    topic: str
    partition: int
    waiting: int
    seconds: float


class Standing(msgspec.Struct):
    """The process that serves the home, since when and as of when (microseconds), what it follows, and how it goes."""

    pid: int
    since: int
    at: int
    follows: Sequence[str]
    services: Sequence[ServiceStanding] = ()
    stuck: Sequence[StuckStanding] = ()
    trouble: str | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Standing).decode


def read(store: StateStore) -> Standing | None:
    """What was noted last, or None. A note that another version of casetape wrote and this one cannot read says as
    little as none: it is overwritten within seconds."""
    note = store.note(KEY)
    try:
        return None if note is None else _decode(note)
    except msgspec.MsgspecError:
        return None


def write(store: StateStore, standing: Standing | None) -> None:
    """Notes it, or (None) that nobody serves the home. Whoever has the home's turn is the only one to write."""
    while not store.move_note(KEY, store.note(KEY), None if standing is None else _encode(standing)):
        continue
