"""From a piece of an input to records for the tape and faults for quarantine. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from engines.log import NewRecord
from schemas.errors import InputError, RecordInvalid, RecordTooLarge
from workers.feed.encode import Encoder
from workers.feed.errors import CutRecord, InputDamaged
from workers.feed.ledger import tail_digest
from workers.feed.options import FeedCounts
from workers.feed.quarantine import Fault
from workers.feed.reader import Reader, Redaction
from workers.feed.sniff import BOM
from workers.feed.source import LINE_LIMIT, Hash, Piece

_UNENDED = "the last line has no line feed: it may be cut inside its last column"


class Decoded(NamedTuple):
    """What a piece holds: records, faults, how many of its records were fed before (0 or 1), and how many of the
    records have no time that can be used (other than texts)."""

    records: list[NewRecord]
    faults: list[Fault]
    already: int
    untimed: int = 0

    @property
    def read(self) -> int:
        """How many records it has."""
        return len(self.records) + len(self.faults) + self.already

    @property
    def counts(self) -> FeedCounts:
        """The same as counts."""
        return FeedCounts(self.read, len(self.records), self.already, len(self.faults), self.untimed)


class Decoder:
    """Decodes the pieces of one input in order. `number` is the line it has come to.

    `request`: the caller's request id, to which each line's number is added (not where the whole input is one text);
    None: each line is named by the running SHA-256 of the content up to and with it, so that the same file gives the
    same names and a grown one keeps them.
    """

    def __init__(
        self, reader: Reader, encoder: Encoder, redaction: Redaction, *, request: str | None, whole: bool, number: int
    ) -> None:
        self.number = number
        self._reader = reader
        self._encoder = encoder
        self._redaction = redaction
        self._request = request
        self._whole = whole

    @property
    def context(self) -> str:
        """What the reader has learnt from the lines so far."""
        return self._reader.context

    def tail(self, piece: Piece) -> str:
        """The ledger's name for what is fed of a piece's first line, where that is a last one that may still grow."""
        return tail_digest(piece, whole_lines=self._reader.whole_lines)

    def decode(self, piece: Piece, fed_tail: str, damage: str | None, now: int) -> Decoded:
        """The piece's records and faults. `fed_tail`: the name of its first line if that is fed already. `damage`: why
        the input ends here. `now`: the receipt, microseconds."""
        self._encoder.now = now
        if piece.oversized is not None or piece.end == "damage":
            return self._unread(piece, fed_tail, damage)
        skip = bool(fed_tail) and self.tail(piece) == fed_tail
        lines = piece.lines
        requests = self._requests(lines, piece.before) if self._reader.needs_request else repeat("")
        if self.number == 0:
            lines = [lines[0].removeprefix(BOM), *lines[1:]]
        untimed = self._encoder.untimed
        if skip:
            next(iter(requests))
            self.number += 1
            lines = lines[1:]
        records, faults = self._read(lines, requests, cut=piece.end == "tail" and not self._whole and not skip)
        return Decoded(records, faults, int(skip), self._encoder.untimed - untimed)

    def _read(self, lines: list[bytes], requests: Iterator[str], *, cut: bool) -> tuple[list[NewRecord], list[Fault]]:
        records: list[NewRecord] = []
        faults: list[Fault] = []
        read, record = self._reader.read, self._encoder.record
        numbers = range(self.number + 1, self.number + 1 + len(lines))
        for at, line, request in zip(numbers, lines, requests, strict=False):
            if not line or line.isspace():
                continue
            try:
                item = read(line, request)
                if item is not None:
                    if cut and self._reader.whole_lines:
                        raise CutRecord(_UNENDED)
                    records.append(record(item))
            except InputError as error:
                why = _cut(error) if cut and isinstance(error, RecordInvalid) else error
                bad = self._redaction.apply_bytes(line)
                faults.append(Fault(at, bad, None, _alone(why), request, self._reader.context))
        self.number += len(lines)
        return records, faults

    def _requests(self, lines: list[bytes], before: Hash) -> Iterator[str]:
        if self._request is not None:
            if self._whole:
                yield self._request
            else:
                yield from (f"{self._request}:{at}" for at in range(self.number + 1, self.number + 1 + len(lines)))
            return
        running = before.copy()
        for line in lines:
            text = line.removesuffix(b"\r")
            running.update(text)
            yield f"sha256:{running.hexdigest()}"
            running.update(line[len(text) :] + b"\n")

    def _unread(self, piece: Piece, fed_tail: str, damage: str | None) -> Decoded:
        self.number += 1
        if fed_tail and self.tail(piece) == fed_tail:
            return Decoded([], [], 1)
        error: InputError = RecordTooLarge(f"the line is longer than {LINE_LIMIT} bytes")
        if piece.end == "damage":
            error = InputDamaged(f"{damage}; what was read before it is fed")
        data = piece.oversized.prefix if piece.oversized else piece.lines[0]
        kept = self._redaction.apply_bytes(data)
        return Decoded([], [Fault(self.number, kept, piece.oversized, error, "", self._reader.context)], 0)


def _alone(error: InputError) -> InputError:
    # where it was raised, and all that was at hand there, is not kept until the piece is done
    error.__context__ = None
    return error.with_traceback(None)


def _cut(error: InputError) -> CutRecord:
    return CutRecord(f"the last line has no line feed and cannot be read: {error}")
