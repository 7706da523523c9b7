"""What must hold of any reader and any bytes: nothing is raised but faults, the counts close, and every record that
comes out proves itself. Run for long with atheris, where it is installed:

    python -m tests.unit.feed.fuzzing eve -max_total_time=60
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import NamedTuple

from tests.unit.feed.reading import CONN, Got, through
from workers.feed.mapping import FieldMapping
from workers.feed.options import FeedOptions
from workers.feed.sniff import BOM, Choice

_GZIP = b"\x1f\x8b"
FIXTURES = Path(__file__).parents[2] / "fixtures"


class Target(NamedTuple):
    """A reader with its options, and real content to spoil."""

    choice: Choice
    options: FeedOptions
    seeds: tuple[bytes, ...]


def _real(folder: str, ending: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((FIXTURES / folder).glob(f"*.{ending}")))


def _wrapped(seeds: tuple[bytes, ...]) -> tuple[bytes, ...]:
    lines = [line for seed in seeds for line in seed.splitlines()]
    messages = [json.dumps({"host": {"name": "fw"}, "message": line.decode()}).encode() for line in lines]
    return (*seeds, b"\n".join(messages[:4]) + b"\n", b"x suricata[1]: " + lines[0] + b"\n")


DAY = gzip.decompress((FIXTURES / "apt29-zeek" / "day1.zeek.json.gz").read_bytes()).splitlines(keepends=True)
MAPPING = FieldMapping(
    time=("ts", "timestamp"), time_unit="s", subject="{host}:{id.orig_h}", origin="proto", kind="my.{_path}"
)
TARGETS = {
    "zeek": Target(Choice("zeek", "conn"), FeedOptions(), (b"".join(DAY[:6]), b"".join(DAY[700:706]))),
    "zeek-tsv": Target(Choice("zeek-tsv", "conn"), FeedOptions(zeek_fields={"conn": "ts uid"}), _real("zeek", "log")),
    "eve": Target(Choice("eve", None), FeedOptions(), _wrapped(_real("suricata", "json"))),
    "windows": Target(Choice("windows", None), FeedOptions(), _real("windows", "json")),
    "json": Target(
        Choice("json", "mine"),
        FeedOptions(kind="json.mine", mappings={"mine": MAPPING}),
        (json.dumps(CONN).encode() + b"\n",),
    ),
    "text": Target(Choice("text", None), FeedOptions(), (b"a sentence\nanother one, \xc3\xa4\n",)),
}


def check(reader: str, content: bytes) -> Got:
    """Reads the content; raises AssertionError where something does not hold."""
    target = TARGETS[reader]
    seen = through(target.choice, content, target.options)
    assert seen.counts.closes
    assert (seen.counts.appended, seen.counts.quarantined) == (len(seen.observations), len(seen.faults))
    for fault in seen.faults:
        assert fault.error.code
        assert str(fault.error)
    # what calls itself gzip has other lines than these
    if not content.startswith(_GZIP):
        lines = [line for line in content.removeprefix(BOM).split(b"\n") if line.strip()]
        headers = sum(line.startswith(b"#") for line in lines) if reader == "zeek-tsv" else 0
        assert len(lines) - headers <= seen.counts.read <= len(lines)
    return seen


def _main() -> None:
    import atheris  # type: ignore[import-not-found] # not among the tools of every developer

    reader = sys.argv.pop(1)
    atheris.instrument_all()
    atheris.Setup(sys.argv, lambda data: check(reader, data) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    _main()
