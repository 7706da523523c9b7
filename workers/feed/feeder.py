"""Feeder: from inputs to the tape. Reads, appends, quarantines, and only then notes in the ledger how far it came."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import cast

from engines.log import EventLog
from engines.store import StateStore
from schemas.errors import UsageError
from workers.feed.encode import Encoder
from workers.feed.errors import UnknownKind
from workers.feed.intake import Intake, Outlet
from workers.feed.ledger import Ledger, Mark, choices
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.plan import STDIN, Plan, Planned, fitting, plan
from workers.feed.reader import NoRedaction, Redaction
from workers.feed.resume import resumed
from workers.feed.sniff import HEAD, Choice, sniff
from workers.feed.source import Raw, Source

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
        redaction = redaction or NoRedaction()
        encoder = Encoder(options.tenant, redaction=redaction.version, secret=secret)
        self.options = options
        self.clock = clock
        self._store = store
        self._outlet = Outlet(log, options, encoder, redaction, clock)
        self._progress = on_progress

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all observations that it has fed."""
        return frozenset(self._outlet.encoder.kinds)

    def plan(self, paths: Sequence[str | Path]) -> Plan:
        """What `feed_planned` is to be called with; see `workers.feed.plan`. Raises UsageError."""
        return plan(paths, self.options)

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
            choice = planned.choice or self.choice(Source(raw).head(HEAD), planned.path)
            if choice is None:
                return FeedCounts()
            source, intake = self.begin(raw, planned.path, choice)
            return self._feed(intake, source, planned.size)

    def feed_stream(self, stream: Raw, name: str = STDIN) -> FeedCounts:
        """Feeds a stream to its end. The ledger knows none of it, since it cannot be read twice: what is fed again is
        recognised by its ids."""
        source = Source(stream)
        choice = self.choice(source.head(HEAD), name)
        if choice is None:
            return FeedCounts()
        return self._feed(Intake(self._outlet, name, choice, Mark(), None, uuid.uuid4().hex), source, None)

    def choice(self, head: bytes, name: str) -> Choice | None:
        """The reader for an input that starts with `head`, as `sniff` says it; None where that is blank. Raises
        UsageError, naming the input, where none fits."""
        try:
            choice = sniff(head, name, self.options)
        except UnknownKind as error:
            raise UnknownKind(f"{name}: {error}") from None
        return None if choice is None else fitting(choice, name, self.options)

    def ledger(self, choice: Choice) -> Ledger:
        """The ledger of contents that are read by this choice."""
        return Ledger(self._store, self.options.tenant, choices(self.options, choice, self._outlet.redaction.version))

    def begin(self, raw: BufferedReader, name: str, choice: Choice) -> tuple[Source, Intake]:
        """A file as far as the ledger knows it: what is left of it, and the way to the tape for that."""
        ledger = self.ledger(choice)
        start = resumed(raw, ledger, whole=self.options.whole)
        entry = ledger.entry(start.head, start.slot, start.mark)
        return start.source, Intake(self._outlet, name, choice, start.mark, entry, None)

    def _feed(self, intake: Intake, source: Source, size: int | None) -> FeedCounts:
        counts = FeedCounts(read=intake.mark.records, already_fed=intake.mark.records)
        for piece in source.whole() if self.options.whole else source.pieces():
            counts += intake.take(piece, source.content, source.damage)
            if self._progress is not None:
                self._progress(source.raw_done, size, counts)
        intake.settle()
        return counts
