"""The recorded names (tests/fixtures/dns-tunnel-names), replayed as one client's look-ups, one a second."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

from tests.unit.dns.asks import Ask

FIXTURES = Path(__file__).parents[2] / "fixtures" / "dns-tunnel-names"
TUNNELS = ("hidemyself.org", "example.org", "tuns.org")
"""The domains of the tunnels in `train.csv`, by SOURCE.md: all its other names are plain."""


def replayed(name: str, kind: str = "A") -> list[Ask]:
    """The names of a file in their order, each with this record type."""
    with gzip.open(FIXTURES / f"{name}.csv.gz") as packed:
        lines = io.TextIOWrapper(packed, encoding="utf-8", errors="replace")
        rows = [row for row in csv.reader(lines) if row != ["label", "qname"]]
    return [Ask(second, query, kind) for second, (_, query) in enumerate(rows)]
