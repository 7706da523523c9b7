"""What the beaconing maths looks at: the connections of one key in one window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing import conn_state

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Connections:
    """The connections of one (source, destination, port, transport) in one window.

    All arrays have the same length and are sorted by (at, observation id), duplicates removed. `state` holds codes of
    `conn_state`. `services` are the distinct Zeek labels seen, `names` the distinct SNI or Host names, sorted.
    """

    at: npt.NDArray[np.int64]
    """Start, microseconds since the epoch."""
    duration: npt.NDArray[np.int64]
    """Microseconds, -1 unknown."""
    sent: npt.NDArray[np.int64]
    """Payload bytes from the source, -1 unknown."""
    received: npt.NDArray[np.int64]
    """Payload bytes to the source, -1 unknown."""
    state: npt.NDArray[np.int64]
    services: tuple[str, ...]
    names: tuple[str, ...]
    transport: str

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True)
class Span:
    """The window the connections were taken from, microseconds since the epoch; `end` is exclusive."""

    start: int
    end: int


def conversations(connections: Connections) -> npt.NDArray[np.bool_]:
    """Which connections carried something back: the ones that can be check-ins. Shape (n,).

    A failed connection is none, whatever its rhythm: retries of a client that cannot reach its server keep time very
    well. Nor is one that is known to have carried nothing either way. Where the sensor gives no verdict (`OTH`, or no
    state at all) an answer counts, or not knowing whether there was one.
    """
    established = conn_state.established(connections.state)
    undecided = ~established & ~conn_state.failed(connections.state)
    empty = (connections.sent == 0) & (connections.received == 0)
    return (established & ~empty) | (undecided & (connections.received != 0))
