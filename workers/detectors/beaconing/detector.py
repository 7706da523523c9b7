"""The beaconing detector: connections by (source, destination, port, transport) over a day, judged by `judge`."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field

from schemas.observation import Observation
from schemas.scales import DAY, HOUR, MILLION
from workers.detection.plugin import Finding
from workers.detection.windowed import Measure, Rows, Span, Window, WindowedDetector
from workers.detectors.beaconing.conn_state import UNKNOWN, code_of
from workers.detectors.beaconing.connections import Connections
from workers.detectors.beaconing.judge import BeaconingParameters, judge

LeaveOut = Literal["unspecified", "loopback", "link_local", "multicast", "broadcast", "private"]
CONNECTION, NAMED = 0, 1
"""What a row is: a connection, or a record that names the destination (TLS, HTTP)."""
_UNKNOWN_BYTES = -1
_NAMES_SHOWN = 20
_MOST_BYTES = 2**62


class Settings(BeaconingParameters):
    """Settings of the detector: those of the judgement, and which destinations are left out before it. An attacker can
    have a private address, so `private` is not among them unless it is put there."""

    leave_out: tuple[LeaveOut, ...] = Field(
        default=("unspecified", "loopback", "link_local", "multicast", "broadcast"),
        description="destinations of these kinds are not judged",
    )


class Beaconing(WindowedDetector):
    """Finds regular calls. Fingerprint `beacon SOURCE -> DESTINATION:PORT` (`/udp` behind it where it is not TCP)."""

    name = "beaconing"
    version = "1"
    kinds = ("zeek.conn", "zeek.ssl", "zeek.http")
    Parameters = Settings
    window = Window(DAY, 6 * HOUR)
    columns = ("row", "sent", "received", "state")
    minimum = 6

    def __init__(self, parameters: Settings | None = None) -> None:
        super().__init__(parameters)
        self._settings = parameters if parameters is not None else Settings()
        self._left_out = frozenset(self._settings.leave_out)

    def measure(self, observation: Observation) -> Measure | None:
        """A connection's sizes and state with its service, or a name of the destination."""
        data = observation.content.data
        if data is None:
            return None
        source, destination, port = _ends(data)
        if not isinstance(source, str) or not isinstance(destination, str) or type(port) is not int:
            return None
        if self._skips(destination):
            return None
        if observation.kind == "zeek.conn":
            key = f"{source} -> {destination}:{port}/{data.get('proto', 'tcp')}"
            state, service = data.get("conn_state"), data.get("service")
            numbers = (
                CONNECTION,
                _count(data.get("orig_bytes")),
                _count(data.get("resp_bytes")),
                code_of(state) if isinstance(state, str) else UNKNOWN,
            )
            return Measure(key, numbers, service if isinstance(service, str) else None)
        name = data.get("server_name") if observation.kind == "zeek.ssl" else data.get("host")
        if not isinstance(name, str) or not name:
            return None
        key = f"{source} -> {destination}:{port}/tcp"
        return Measure(key, (NAMED, _UNKNOWN_BYTES, _UNKNOWN_BYTES, UNKNOWN), name)

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """A finding on the connections, or nothing. It rests on the records that name the destination too: of two
        findings on the same connections the one that knows more names has more evidence, and is current."""
        made = rows.numbers[:, 0] == CONNECTION
        ends, _, transport = key.rpartition("/")
        labels = zip(rows.labels, made.tolist(), strict=True)
        services: set[str] = set()
        names: dict[str, int] = {}
        for label, is_connection in labels:
            if label and is_connection:
                services.add(label)
            elif label:
                names[label] = names.get(label, 0) + 1
        connections = Connections(
            at=rows.at[made],
            sent=rows.numbers[made, 1],
            received=rows.numbers[made, 2],
            state=rows.numbers[made, 3],
            services=tuple(sorted(services)),
            names=tuple(sorted(sorted(names), key=lambda name: -names[name])[:_NAMES_SHOWN]),
            transport=transport,
        )
        judgement = judge(connections, span, self._settings)
        if judgement is None:
            return None
        return Finding(
            verdict=judgement.verdict,
            score=judgement.score / MILLION,
            confidence=judgement.confidence / MILLION,
            fingerprint=f"beacon {ends}" if transport == "tcp" else f"beacon {key}",
            title=judgement.title,
            text=judgement.text,
            target=f"{ends.partition(' -> ')[2]}/{transport}",
            techniques=("T1071",),
            numbers=judgement.numbers | {"names": len(names)},
            at=int(connections.at[-1]),
        )

    def _skips(self, destination: str) -> bool:
        return not self._left_out.isdisjoint(_classes(destination))


def _count(value: object) -> int:
    """Bytes as a sensor counts them, or -1 where it does not say or what it says cannot be."""
    return value if type(value) is int and 0 <= value < _MOST_BYTES else _UNKNOWN_BYTES


def _ends(data: Mapping[str, Any]) -> tuple[object, object, object]:
    """Source, destination and destination port under any of the names that Zeek's writers use, as they came."""
    source = data.get("id_orig_h")
    if source is not None:
        return source, data.get("id_resp_h"), data.get("id_resp_p")
    source = data.get("id.orig_h")
    if source is not None:
        return source, data.get("id.resp_h"), data.get("id.resp_p")
    nested = data.get("id")
    if isinstance(nested, dict):
        return nested.get("orig_h"), nested.get("resp_h"), nested.get("resp_p")
    return None, None, None


@lru_cache(maxsize=65_536)
def _classes(address: str) -> frozenset[str]:
    """The kinds of destination that an address is of; what is no address is of none."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return frozenset()
    held = {
        "unspecified": ip.is_unspecified,
        "loopback": ip.is_loopback,
        "link_local": ip.is_link_local,
        "multicast": ip.is_multicast,
        "broadcast": address == "255.255.255.255",
        "private": ip.is_private,
    }
    return frozenset(name for name, yes in held.items() if yes)


__all__ = ["Beaconing", "Settings"]
