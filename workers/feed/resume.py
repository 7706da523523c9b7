"""Where the feed of a file goes on: after the longest content of the ledger that the file starts with."""

from __future__ import annotations

from collections.abc import Mapping
from io import BufferedReader
from typing import NamedTuple

from workers.feed.ledger import Ledger, Mark
from workers.feed.sniff import HEAD
from workers.feed.source import Source


class Start(NamedTuple):
    """A source that stands at the end of what `mark` says is fed; `slot` and `head` name the ledger's entry, slot None
    a new one."""

    source: Source
    head: bytes
    slot: str | None
    mark: Mark


def resumed(raw: BufferedReader, ledger: Ledger, *, whole: bool) -> Start:
    """The start for a file, which is read as far as the ledger knows contents with its first line."""
    head = _head(raw, whole=whole)
    marks = ledger.marks(head)
    while True:
        raw.seek(0)
        source = Source(raw)
        slot, reached = _longest(source, marks)
        mark = marks[slot] if slot is not None else Mark()
        if reached == mark.length:
            return Start(source, head, slot, mark)
        # the file was read beyond the place: again from the front, with that place as the only candidate
        marks = {slot: mark} if slot is not None else {}


def _head(raw: BufferedReader, *, whole: bool) -> bytes:
    raw.seek(0)
    source = Source(raw)
    if not whole:
        return source.head(HEAD)
    # one text has no first line that stays while it grows: it is known by all of its content
    for _ in source.whole():
        pass
    return source.content.hexdigest().encode()


def _longest(source: Source, marks: Mapping[str, Mark]) -> tuple[str | None, int]:
    best: str | None = None
    reached = 0
    for slot, mark in sorted(marks.items(), key=lambda pair: pair[1].length):
        reached += sum(map(len, source.take(mark.length - reached)))
        if reached < mark.length:
            break
        if source.content.hexdigest() == mark.digest:
            best = slot
    return best, reached
