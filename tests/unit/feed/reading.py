"""An input's bytes through sniffing, pieces, reader and encoder, as the feeder does it, without a tape."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from schemas.observation import Observation
from workers.feed.decode import Decoder
from workers.feed.encode import Encoder
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.quarantine import Fault
from workers.feed.reader import NoRedaction, Redaction
from workers.feed.sniff import HEAD, READERS, Choice, sniff
from workers.feed.source import of_bytes

NOW = 1_600_000_000_000_000
"""The receipt in these tests: September 2020."""
CONN = {"_path": "conn", "ts": 1588205199.82437, "uid": "C1", "id.orig_h": "10.0.0.5", "id.resp_h": "192.0.2.1"}


class Got(NamedTuple):
    """What the input became."""

    observations: list[Observation]
    faults: list[Fault]
    counts: FeedCounts


def got(
    content: bytes,
    options: FeedOptions | None = None,
    *,
    name: str = "in.json",
    request: str | None = None,
    redaction: Redaction | None = None,
) -> Got:
    """Reads `content`; blank content gives nothing. Each record's bytes must be ones that prove themselves."""
    options = options or FeedOptions()
    choice = sniff(of_bytes(content).head(HEAD), name, options)
    if choice is None:
        return Got([], [], FeedCounts())
    return through(choice, content, options, request=request, redaction=redaction)


def through(
    choice: Choice,
    content: bytes,
    options: FeedOptions,
    *,
    request: str | None = None,
    redaction: Redaction | None = None,
) -> Got:
    """The same by a reader that is chosen already."""
    redaction = redaction or NoRedaction()
    source = of_bytes(content)
    decoder = Decoder(
        READERS[choice.reader](options, choice.stream, redaction, options.context),
        Encoder(options.tenant, redaction=redaction.version, secret=None),
        redaction,
        request=options.request_id or request,
        whole=options.whole,
        number=0,
    )
    seen = Got([], [], FeedCounts())
    for piece in source.whole() if options.whole else source.pieces():
        decoded = decoder.decode(piece, "", source.damage, NOW)
        opened = [Observation.parse(new.value).proven() for new in decoded.records]
        assert [one.case for one in opened] == [new.key for new in decoded.records]
        seen = Got(seen.observations + opened, seen.faults + decoded.faults, seen.counts + decoded.counts)
    assert seen.counts.closes
    return seen


def line(**fields: Any) -> bytes:
    """One JSON line: a connection with some fields changed (`id__orig_h` is `id.orig_h`; ... drops one)."""
    record = {**CONN, **{name.replace("__", "."): value for name, value in fields.items()}}
    return json.dumps({name: value for name, value in record.items() if value is not ...}).encode() + b"\n"


def one(content: bytes, options: FeedOptions | None = None, *, name: str = "in.json") -> Observation:
    """The only observation of an input without a fault."""
    (observation,), faults, _ = got(content, options, name=name)
    assert faults == []
    return observation
