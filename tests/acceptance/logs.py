"""Rewritten copies of the recorded logs: the same story with other names, in another order."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.acceptance.command import DAY1, DAY2

_ADDRESS_FIELDS = ("id_orig_h", "id_resp_h", "src", "dst", "host")
_LIST_FIELDS = ("tx_hosts", "rx_hosts")


def lines(path: Path) -> list[bytes]:
    """The lines of a gzipped log, each with its line feed."""
    with gzip.open(path) as log:
        return [line for line in log if line.strip()]


def write(path: Path, content: Iterable[bytes]) -> Path:
    """A log of these lines; returns its path."""
    path.write_bytes(b"".join(content))
    return path


def shuffled(source: list[bytes], seed: int) -> list[bytes]:
    """The lines in any order."""
    mixed = list(source)
    random.Random(seed).shuffle(mixed)
    return mixed


class Renumbering:
    """Every address and every destination port becomes another, the same wherever it stands."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._addresses: dict[str, str] = {}
        self._ports: dict[int, int] = {}

    def address(self, old: str) -> str:
        """The new address of an old one; what is no IPv4 address stays."""
        if old.count(".") != 3 or not old.replace(".", "").isdigit():
            return old
        while old not in self._addresses:
            new = f"{self._random.randrange(11, 120)}.{self._random.randrange(256)}.{self._random.randrange(256)}.9"
            if new not in self._addresses.values():
                self._addresses[old] = new
        return self._addresses[old]

    def port(self, old: int) -> int:
        """The new port of an old one."""
        while old not in self._ports:
            new = self._random.randrange(1, 65_536)
            if new not in self._ports.values():
                self._ports[old] = new
        return self._ports[old]

    def line(self, line: bytes) -> bytes:
        """The line with everything renumbered."""
        record: dict[str, Any] = json.loads(line)
        for field in _ADDRESS_FIELDS:
            if isinstance(record.get(field), str):
                record[field] = self.address(record[field])
        for field in _LIST_FIELDS:
            if isinstance(record.get(field), list):
                record[field] = [self.address(one) for one in record[field]]
        for field in ("id_resp_p", "p"):
            if isinstance(record.get(field), int):
                record[field] = self.port(record[field])
        return json.dumps(record).encode() + b"\n"


def both_days() -> list[bytes]:
    """All lines of both recorded days."""
    return lines(DAY1) + lines(DAY2)
