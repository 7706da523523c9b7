"""Intake: one input on its way to the tape. What a piece holds is appended and quarantined, and only then noted in the
ledger; the input itself is somebody else's matter, a file read once or one that grows for months."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord
from engines.topics import OBSERVATIONS, QUARANTINE
from schemas.errors import InputError
from schemas.scales import AHEAD, EARLIEST
from workers.feed.decode import Decoded, Decoder
from workers.feed.encode import Encoder
from workers.feed.ledger import Entry, Mark
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.quarantine import Fault, batches, new_record, quarantined_line
from workers.feed.reader import Reader, Redaction
from workers.feed.sniff import BOM, READERS, Choice, relevant
from workers.feed.source import Hash, Piece


class Outlet(NamedTuple):
    """Where everything goes and by which choices. `clock` gives microseconds; the encoder is that of all inputs."""

    log: EventLog
    options: FeedOptions
    encoder: Encoder
    redaction: Redaction
    clock: Callable[[], int]


class Intake:
    """Takes the pieces of one input, in order. `name` is where a quarantined line is said to come from, `mark` how far
    the input is on the tape, `entry` its place in the ledger (None: of a stream, which cannot be read twice), `moved`
    whether that was moved here."""

    def __init__(
        self, outlet: Outlet, name: str, choice: Choice, mark: Mark, entry: Entry | None, request: str | None
    ) -> None:
        options = outlet.options
        self.name = name
        self.choice = choice
        self.mark = mark
        self.entry = entry
        self.moved = False
        self._outlet = outlet
        self._reader = self._new_reader()
        self._ahead: Reader | None = None
        self._decoder = Decoder(
            self._reader,
            outlet.encoder,
            outlet.redaction,
            request=options.request_id or request,
            whole=options.whole,
            number=mark.lines,
        )

    def take(self, piece: Piece, content: Hash, damage: str | None) -> FeedCounts:
        """Puts a piece on the tape. `content`: the running SHA-256 up to and with it; `damage`: why the input ends with
        it. Where the tape is slow, this waits. Raises EngineError: then the mark may stand before or after the piece,
        and the input is to be taken up anew by the ledger."""
        now = self._outlet.clock()
        decoded = self._decoder.decode(piece, self.mark.tail, damage, now)
        fail_point("feed.read")
        self._append(decoded, now)
        moved = self._after(piece, decoded, content, now)
        # a header alone is not worth an entry: its first record is what a content is known by
        if self.entry is not None and not moved.same(self.mark) and (moved.records or moved.tail):
            self.entry.move(moved)
            self.moved = True
        fail_point("feed.recorded")
        self.mark = moved
        return decoded.counts

    def settle(self) -> None:
        """Says that no more comes, for now."""
        if self.entry is not None:
            self.entry.settle(self.mark)

    def time_of(self, line: bytes) -> int | None:
        """The event time of a line ahead, as far as it can be told now; none of a clock that is flagged (I10)."""
        if self._reader.needs_request:
            return None  # a text, which has no time of its own
        try:
            item = self._ahead_reader().read(line.removeprefix(BOM), "")
        except InputError:
            return None  # it is quarantined when its turn comes
        at = None if item is None else item.at
        return at if at is not None and EARLIEST <= at <= self._outlet.clock() + AHEAD else None

    def _ahead_reader(self) -> Reader:
        if self._ahead is None or self._ahead.context != self.mark.context:
            self._ahead = self._new_reader()
        return self._ahead

    def _new_reader(self) -> Reader:
        outlet, choice = self._outlet, self.choice
        return READERS[choice.reader](outlet.options, choice.stream, outlet.redaction, self.mark.context)

    def _append(self, decoded: Decoded, now: int) -> None:
        # all are made before any is appended: what cannot be written must not leave half of it on the tape. Those that
        # would take much memory are made twice for that.
        bad = [self._quarantined(fault, now) for fault in next(batches(decoded.faults), [])]
        for fault in decoded.faults[len(bad) :]:
            self._quarantined(fault, now)
        if decoded.records:
            self._outlet.log.append(OBSERVATIONS, decoded.records)
        fail_point("feed.appended")
        for some in batches(decoded.faults):
            bad = bad or [self._quarantined(fault, now) for fault in some]
            self._outlet.log.append(QUARANTINE, bad)
            bad = []
        fail_point("feed.quarantined")

    def _quarantined(self, fault: Fault, now: int) -> NewRecord:
        choice, options, redaction = self.choice, self._outlet.options, self._outlet.redaction.version
        said = {**relevant(options, choice).chosen(), "kind": choice.kind}
        if redaction is not None:
            said["redaction"] = redaction
        return new_record(quarantined_line(options.tenant, self.name, said, fault, now))

    def _after(self, piece: Piece, decoded: Decoded, content: Hash, now: int) -> Mark:
        if piece.end != "line":
            # a last line may still grow: it is remembered, but the mark stays before it, and so does the context
            return self.mark._replace(tail=self._decoder.tail(piece) if decoded.read else "", at=now)
        return Mark(
            length=self.mark.length + piece.size,
            digest=content.hexdigest(),
            lines=self.mark.lines + max(1, len(piece.lines)),
            records=self.mark.records + decoded.read,
            at=now,
            context=self._decoder.context,
        )
