"""What the first lines of an input look like: looked at are bytes, not parsed lines, since a log whose first line is
damaged is still a log. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

SAMPLE = 32
"""So many lines that are not blank are looked at."""
_STREAM = re.compile(rb'"(?:_path|@stream)"\s*:')
_ZEEK = re.compile(rb'"(?:_path|@stream|id[._]orig_h)"\s*:|"id"\s*:\s*\{[^{}]*"orig_h"\s*:')
_EVE = (
    re.compile(rb'"event_type\\*"\s*:\s*\\*"'),
    re.compile(rb'"(?:flow_id|src_ip|stats|pcap_cnt)\\*"\s*:'),
)
_WINDOWS = (
    (re.compile(rb'"System\\*"\s*:\s*\{'), re.compile(rb'"(?:TimeCreated|Channel|Provider)')),
    (re.compile(rb'"winlog\\*"\s*:\s*\{'),),
    (re.compile(rb'"(?:Channel|LogName|log_name)\\*"\s*:'), re.compile(rb'"(?:EventID|event_id|Id)\\*"\s*:')),
)
"""Of each of these all must be there; quotes may be escaped, in what a shipper wrapped."""
_ARRAY = "a JSON array: write one object a line, for example with `jq -c '.[]'`"
_SPREAD = "a JSON object over several lines: write one object a line, for example with `jq -c .`"
_XML = "XML: of Windows events write JSON lines, for example with `evtx_dump -o jsonl`"


class Marks(NamedTuple):
    """How many of the first lines look like what. `objects`: those that begin like a JSON object; `streams`: those of
    Zeek that name their stream; `header` and `path`: lines of a Zeek TSV header, and those that name the stream;
    `tabs`: other lines with a tab."""

    objects: int
    zeek: int
    streams: int
    eve: int
    windows: int
    header: int
    path: int
    tabs: int

    @property
    def any(self) -> bool:
        """Whether any line is marked as one of a known kind."""
        return bool(self.zeek or self.eve or self.windows or self.header)


def marks(lines: Sequence[bytes]) -> Marks:
    """The marks of lines without blanks around them."""
    objects = [line for line in lines if line.startswith(b"{")]
    plain = [line for line in lines if not line.startswith((b"{", b"#"))]
    inside = [line for line in lines if b"{" in line]
    return Marks(
        objects=len(objects),
        zeek=sum(_ZEEK.search(line) is not None for line in objects),
        streams=sum(_STREAM.search(line) is not None for line in objects),
        eve=sum(_all(_EVE, line) for line in inside),
        windows=sum(any(_all(shape, line) for shape in _WINDOWS) for line in inside),
        header=sum(line.startswith((b"#separator", b"#fields")) for line in lines),
        path=sum(line.startswith(b"#path") for line in lines),
        tabs=sum(b"\t" in line for line in plain),
    )


def misshapen(lines: Sequence[bytes]) -> str | None:
    """What is to be done with lines that are data, but not a record a line; None where they are neither."""
    first = lines[0]
    if first.startswith(b"["):
        return _ARRAY
    whole = any(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    if first == b"{" and len(lines) > 1 and not whole:
        return _SPREAD
    # a digit there is the priority of a syslog line
    return _XML if first.startswith(b"<") and not first[1:2].isdigit() else None


def _all(patterns: Sequence[re.Pattern[bytes]], line: bytes) -> bool:
    return all(one.search(line) is not None for one in patterns)
