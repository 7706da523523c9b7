"""Cuts the demo's data: `python cut.py FOLDER` reads day1 and day2 of apt29-zeek in FOLDER (see SOURCE.md) and writes
`*.json.gz` beside this file. The same input gives the same bytes."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]

STREAMS = ("conn", "dns", "http")
HOST, CHANNEL = "10.0.1.6", ("192.168.0.4", 8443)
FIRST_SECONDS = 70.0
"""How much of the channel of day 1 the first part holds."""
DAY2_HOST = "10.0.1.5"


def main(folder: Path) -> None:
    """Writes the three parts."""
    day1 = [(line, record) for line, record in read(folder / "day1.zeek.json.gz") if record["@stream"] in STREAMS]
    begins = min(record["ts"] for _, record in day1 if is_channel(record))

    def early(record: Record) -> bool:
        return bool(record["ts"] < begins + FIRST_SECONDS)

    write("day1-a.zeek.json.gz", day1, early)
    write("day1-b.zeek.json.gz", day1, lambda record: not early(record))
    day2 = read(folder / "day2.zeek.json.gz")
    write("day2.zeek.json.gz", day2, lambda record: record["@stream"] == "conn" and record["id_orig_h"] == DAY2_HOST)


def is_channel(record: Record) -> bool:
    """Whether it is a connection of the channel of day 1."""
    return record["id_orig_h"] == HOST and (record["id_resp_h"], record["id_resp_p"]) == CHANNEL


def read(path: Path) -> list[tuple[bytes, Record]]:
    """The lines with their records."""
    with gzip.open(path) as lines:
        return [(line, json.loads(line)) for line in lines]


def write(name: str, lines: list[tuple[bytes, Record]], wanted: Callable[[Record], bool]) -> None:
    """Writes the wanted lines, unchanged and in their order."""
    data = b"".join(line for line, record in lines if wanted(record))
    Path(__file__).with_name(name).write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
