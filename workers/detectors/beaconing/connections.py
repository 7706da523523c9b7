"""What the beaconing maths looks at: the connections of one key in one window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workers.detection.windowed import Span
from workers.detectors.beaconing import conn_state

__all__ = ["MICROSECONDS", "Connections", "Span", "conversations"]

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Connections:
    """The connections of one (source, destination, port, transport) in one window.

    All arrays have the same length and are sorted by (at, observation id), duplicates removed. `state` holds codes of
    `conn_state`. `services` are the distinct Zeek labels seen, `names` the distinct SNI or Host names, sorted.
    """

    at: npt.NDArray[np.int64]
    """Start, microseconds since the epoch."""
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


def conversations(connections: Connections) -> npt.NDArray[np.bool_]:
    """Which connections brought an answer: the ones that can be check-ins. Shape (n,).

    A failed connection is none, whatever its rhythm: retries of a client that cannot reach its server keep time very
    well. Nor is one known to have brought no byte back: nobody is commanded by silence. Where the sensor has no
    verdict (`OTH`, or no state at all), and where it does not know the bytes, the benefit goes to the connection.
    """
    answered: npt.NDArray[np.bool_] = connections.received != 0
    return ~conn_state.failed(connections.state) & answered
