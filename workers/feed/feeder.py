"""Feeder: from inputs to the tape. Reads, appends, quarantines, and only then notes in the ledger how far it came."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, cast

from engines.failpoints import fail_point
from engines.log import EventLog, NewRecord
from engines.store import StateStore
from engines.topics import OBSERVATIONS, QUARANTINE
from schemas.errors import UsageError
from workers.feed.decode import Decoded, Decoder
from workers.feed.encode import Encoder
from workers.feed.errors import UnknownKind
from workers.feed.ledger import Entry, Ledger, Mark, choices, tail_digest
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import STDIN, Plan, Planned, fitting, plan
from workers.feed.quarantine import Fault, new_record, quarantined_line
from workers.feed.reader import NoRedaction, Redaction
from workers.feed.resume import resumed
from workers.feed.sniff import HEAD, READERS, Choice, sniff
from workers.feed.source import Piece, Raw, Source

Progress = Callable[[int, int | None, FeedCounts], None]
"""Called after each batch with the bytes of the file read so far, its size (None of a stream) and the file's counts."""


class Feeder:
    """Feeds inputs by one set of options. `clock` gives the time in microseconds.

    Its methods raise UsageError before anything is written, EngineError (StorageFull, …) where the engine fails: what
    was noted until then is skipped when the same is fed again. Where the tape is slow, appending waits: nothing is
    dropped.
    """

    def __init__(
        self,
        log: EventLog,
        store: StateStore,
        options: FeedOptions,
        clock: Callable[[], int],
        *,
        redaction: Redaction | None = None,
        secret: bytes | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self._log = log
        self._store = store
        self._options = options
        self._clock = clock
        self._redaction = redaction or NoRedaction()
        self._secret = secret
        self._progress = on_progress

    def plan(self, paths: Sequence[str | Path]) -> Plan:
        """What `feed_planned` is to be called with; see `workers.feed.plan`. Raises UsageError."""
        return plan(paths, self._options)

    def feed_path(self, path: str | Path) -> FeedCounts:
        """Feeds a file or all known files of a folder."""
        return sum(map(self.feed_planned, self.plan([path]).files), FeedCounts())

    def feed_planned(self, planned: Planned) -> FeedCounts:
        """Feeds one input of a plan; `-` is the standard input."""
        if planned.path == STDIN:
            return self.feed_stream(cast(BufferedReader, sys.stdin.buffer))
        try:
            raw = Path(planned.path).open("rb")  # noqa: SIM115 -- closed below; only the opening is a usage error
        except OSError as error:
            raise UsageError(f"{planned.path}: cannot be read: {error.strerror}") from None
        with raw:
            if planned.size is None:
                return self.feed_stream(raw, planned.path)
            choice = planned.choice or self._choice(Source(raw).head(HEAD), planned.path)
            if choice is None:
                return FeedCounts()
            chosen = choices(self._options, choice, self._redaction.version)
            ledger = Ledger(self._store, self._options.tenant, chosen)
            start = resumed(raw, ledger, whole=self._options.whole)
            entry = ledger.entry(start.head, start.slot, start.mark)
            return self._feed(_Input(planned.path, planned.size, choice, start.source, start.mark, entry, None))

    def feed_stream(self, stream: Raw, name: str = STDIN) -> FeedCounts:
        """Feeds a stream to its end. The ledger knows none of it, since it cannot be read twice: what is fed again is
        recognised by its ids."""
        source = Source(stream)
        choice = self._choice(source.head(HEAD), name)
        if choice is None:
            return FeedCounts()
        return self._feed(_Input(name, None, choice, source, Mark(), None, uuid.uuid4().hex))

    def _choice(self, head: bytes, name: str) -> Choice | None:
        try:
            choice = sniff(head, name, self._options)
        except UnknownKind as error:
            raise UnknownKind(f"{name}: {error}") from None
        return None if choice is None else fitting(choice, name, self._options)

    def _feed(self, given: _Input) -> FeedCounts:
        source, mark, whole = given.source, given.mark, self._options.whole
        decoder = self._decoder(given)
        counts = FeedCounts(read=mark.records, already_fed=mark.records)
        for piece in source.whole() if whole else source.pieces():
            now = self._clock()
            decoded = decoder.decode(piece, mark.tail, source.damage, now)
            fail_point("feed.read")
            self._append(given, decoded, now)
            moved = _after(mark, piece, decoded, source, now)
            if given.entry is not None and not moved.same(mark):
                given.entry.move(moved)
            fail_point("feed.recorded")
            mark = moved
            counts += decoded.counts
            if self._progress is not None:
                self._progress(source.raw_done, given.size, counts)
        if given.entry is not None:
            given.entry.settle(mark)
        return counts

    def _append(self, given: _Input, decoded: Decoded, now: int) -> None:
        # both are made before either is appended: what cannot be written must not leave half of it on the tape
        bad = [self._quarantined(given, fault, now) for fault in decoded.faults]
        if decoded.records:
            self._log.append(OBSERVATIONS, decoded.records)
        fail_point("feed.appended")
        if bad:
            self._log.append(QUARANTINE, bad)
        fail_point("feed.quarantined")

    def _quarantined(self, given: _Input, fault: Fault, now: int) -> NewRecord:
        choice = given.choice
        kind = choice.reader if choice.stream is None else f"{choice.reader}.{choice.stream}"
        options = {**self._options.chosen(), "kind": kind}
        if self._redaction.version is not None:
            options["redaction"] = self._redaction.version
        return new_record(quarantined_line(self._options.tenant, given.name, options, fault, now))

    def _decoder(self, given: _Input) -> Decoder:
        options, choice = self._options, given.choice
        return Decoder(
            READERS[choice.reader](options, choice.stream, self._redaction),
            Encoder(options.tenant, redaction=self._redaction.version, secret=self._secret),
            self._redaction,
            request=options.request_id or given.request,
            whole=options.whole,
            number=given.mark.lines,
        )


class _Input(NamedTuple):
    name: str
    size: int | None
    choice: Choice
    source: Source
    mark: Mark
    entry: Entry | None
    request: str | None


def _after(mark: Mark, piece: Piece, decoded: Decoded, source: Source, now: int) -> Mark:
    if piece.end != "line":
        # a last line may still grow: it is remembered, but the mark stays before it
        return mark._replace(tail=tail_digest(piece) if decoded.read else "", at=now)
    return Mark(
        length=mark.length + piece.size,
        digest=source.content.hexdigest(),
        lines=mark.lines + max(1, len(piece.lines)),
        records=mark.records + decoded.read,
        at=now,
    )
