"""The recorded attack (tests/fixtures/apt29-zeek), grouped as the detector groups it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workers.detectors.beaconing import conn_state
from workers.detectors.beaconing.connections import MICROSECONDS, Connections, Span

FIXTURES = Path(__file__).parents[2] / "fixtures" / "apt29-zeek"
Key = tuple[str, str, int, str]
CHANNELS: dict[int, Key] = {1: ("10.0.1.6", "192.168.0.4", 8443, "tcp"), 2: ("10.0.1.5", "192.168.0.4", 443, "tcp")}
"""The command channel of each day, by SOURCE.md."""


def keys_of(day: int) -> tuple[dict[Key, Connections], Span]:
    """The connections of every (source, destination, port, transport) of a day, and the 24 h up to the newest."""
    grouped: dict[Key, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(FIXTURES / f"day{day}.zeek.json.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("@stream") == "conn":
                key = (record["id_orig_h"], record["id_resp_h"], record["id_resp_p"], record["proto"])
                grouped[key].append(record)
    made = {key: _connections(records) for key, records in grouped.items()}
    end = max(int(each.at[-1]) for each in made.values()) + 1
    return made, Span(end - 86_400 * MICROSECONDS, end)


def _connections(records: list[dict[str, Any]]) -> Connections:
    records = sorted(records, key=lambda record: (record["ts"], record["uid"]))

    def column(name: str, scale: int = 1) -> npt.NDArray[np.int64]:
        values = [round(record[name] * scale) if name in record else -1 for record in records]
        return np.array(values, dtype=np.int64)

    return Connections(
        at=column("ts", MICROSECONDS),
        sent=column("orig_bytes"),
        received=column("resp_bytes"),
        state=np.array([conn_state.code_of(record.get("conn_state")) for record in records], dtype=np.int64),
        services=tuple(sorted({record["service"] for record in records if record.get("service")})),
        names=(),
        transport=records[0]["proto"],
    )
