"""A made-up connection log of any length in Zeek's JSON: a longer one has more hosts, each of them as busy. Seeded: the
same every time."""

from __future__ import annotations

import json
import random
from pathlib import Path

START = 1_700_006_400.0
RECORDS_PER_HOST = 2_500
STATES = ("SF", "SF", "SF", "SF", "S0", "REJ", "RSTO", "S1")
SERVICES = ("dns", "ssl", "http", "ntp", None)
HOURS = 20
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def write(path: Path, records: int, seed: int = 1) -> None:
    """Writes a conn log of so many records, in order of time, over 20 hours."""
    rng = random.Random(seed)
    hosts = max(1, records // RECORDS_PER_HOST)
    step = HOURS * 3600 / records
    with path.open("w") as out:
        for number in range(records):
            out.write(json.dumps(_record(rng, hosts, START + number * step)) + "\n")


def _record(rng: random.Random, hosts: int, ts: float) -> dict[str, object]:
    host = rng.randrange(hosts)
    service = rng.choice(SERVICES)
    popular = rng.random() < 0.7
    server = rng.randrange(40) if popular else rng.randrange(20_000)
    record: dict[str, object] = {
        "_path": "conn",
        "ts": round(ts + rng.random(), 6),
        "uid": "C" + "".join(rng.choices(_ALPHABET, k=17)),
        "id.orig_h": f"10.{host >> 8}.{host & 255}.{7 + host % 200}",
        "id.orig_p": rng.randrange(1024, 65_535),
        "id.resp_h": f"198.51.{server >> 8}.{server & 255}",
        "id.resp_p": 53 if service == "dns" else 443 if service == "ssl" else 80,
        "proto": "udp" if service in ("dns", "ntp") else "tcp",
        "duration": round(rng.expovariate(2), 6),
        "orig_bytes": rng.randrange(40, 4_000),
        "resp_bytes": rng.randrange(0, 90_000),
        "conn_state": rng.choice(STATES),
        "local_orig": True,
        "local_resp": False,
        "missed_bytes": 0,
        "history": "ShADadFf",
        "orig_pkts": rng.randrange(1, 60),
        "orig_ip_bytes": rng.randrange(40, 6_000),
        "resp_pkts": rng.randrange(1, 90),
        "resp_ip_bytes": rng.randrange(40, 95_000),
        "tunnel_parents": [],
    }
    if service is not None:
        record["service"] = service
    return record
