"""The feed's ledger: how far each content was fed, under whatever name it came.

One note of the store per content: `ledger/<tenant>/<choices>/<head>/<slot>`, where `choices` is a digest of what
decides what the lines become, `head` one of the content's first line (of a Zeek log with a header: the first line under
it, since many logs have the same header), and `slot` is random. The note holds a mark: so
many bytes of complete lines with this digest are on the tape. A content that starts with these bytes is the same one,
grown: its feed goes on there and moves the note, so that a log that is fed every hour has one note. (A copy of it as it
was before it grew is then no longer known, and recognised by its ids only.) A mark never covers a last line without its
line feed; `tail` remembers what became of it until it is known how the line goes on.

Two feeders of one content may race: each move is a compare-and-swap, the loser goes on in a slot of its own, and
whoever ends last removes the double. Notes are the feed's; `prune` is their lifetime.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import NamedTuple

from engines.store import StateStore
from schemas.canonical import canonical_bytes
from schemas.errors import EngineError
from workers.feed.options import FeedOptions
from workers.feed.sniff import HEAD, Choice, relevant
from workers.feed.source import Piece

PREFIX = "ledger/"
_DIGITS = 32
_HEADER = (b"#separator", b"#fields")


class Mark(NamedTuple):
    """How far a content is fed: its first `length` bytes (decompressed, whole lines) have the SHA-256 `digest` and hold
    `lines` lines and `records` records, quarantined ones included. `tail`: what is fed of the line after them, as
    `tail_digest` names it, or empty. `at`: when it was moved, microseconds. `context`: what the reader had learnt at
    `length`."""

    length: int = 0
    digest: str = hashlib.sha256().hexdigest()
    lines: int = 0
    records: int = 0
    tail: str = ""
    at: int = 0
    context: str = ""

    def encode(self) -> bytes:
        """The note's bytes; without a context those of before there was one, so that old notes can be moved."""
        said = self._asdict()
        if not self.context:
            del said["context"]
        return json.dumps(said, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, note: bytes) -> Mark:
        """The mark of a note."""
        return cls(**json.loads(note))

    def same(self, other: Mark) -> bool:
        """Whether both say the same of the same content."""
        return self._replace(at=0) == other._replace(at=0)


def choices(options: FeedOptions, choice: Choice, redaction: str | None) -> str:
    """The digest of all that decides what the lines of a content become."""
    chosen = {name: value for name, value in relevant(options, choice).chosen().items() if name != "context"}
    said = {**chosen, "kind": choice.reader, "stream": choice.stream, "redaction": redaction}
    return hashlib.sha256(canonical_bytes(said)).hexdigest()[:_DIGITS]


def beyond_header(head: bytes) -> bytes:
    """What comes after the header of a Zeek log that `head` starts with, if it does."""
    rest = head
    if head.startswith(_HEADER):
        while rest.startswith(b"#"):
            rest = rest.partition(b"\n")[2]
    return rest


def head_digest(head: bytes) -> str:
    """The digest of a content's first line (of its first 64 KiB at most), the same however the content grows."""
    start = head[:HEAD]
    return hashlib.sha256((beyond_header(start) or start).partition(b"\n")[0]).hexdigest()[:_DIGITS]


def tail_digest(piece: Piece, *, whole_lines: bool = False) -> str:
    """The name of a piece's first line, the same whether its line feed is there yet, but another where it ends in
    damage; and where the reader takes `whole_lines` only, another as long as it has no line feed."""
    said = piece.oversized.digest.encode() if piece.oversized else piece.lines[0]
    end = b"damage\n" if piece.end == "damage" else b"part\n" if whole_lines and piece.end == "tail" else b"line\n"
    return hashlib.sha256(end + said).hexdigest()


class Entry:
    """A content's place in the ledger while it is being fed."""

    def __init__(self, store: StateStore, folder: str, slot: str | None, stored: bytes | None) -> None:
        self._store = store
        self._folder = folder
        self._slot = slot or uuid.uuid4().hex
        self._stored = stored

    def move(self, mark: Mark) -> None:
        """Writes the mark durably: here, or in a new slot where another feeder has moved this one."""
        new = mark.encode()
        if not self._store.move_note(self._folder + self._slot, self._stored, new):
            self._slot = uuid.uuid4().hex
            if not self._store.move_note(self._folder + self._slot, None, new):
                raise EngineError("a new entry of the ledger is taken already")
        self._stored = new

    def settle(self, mark: Mark) -> None:
        """Leaves one entry where a race made several that say the same."""
        notes = self._store.notes(self._folder)
        same = sorted(key for key, note in notes.items() if Mark.decode(note).same(mark))
        for key in same[1:]:
            # a lost race here means that the other feeder has just removed or moved it: both are fine
            self._store.move_note(key, notes[key], None)


class Ledger:
    """The entries of one tenant and one set of choices."""

    def __init__(self, store: StateStore, tenant: str, chosen: str) -> None:
        self._store = store
        self._folder = f"{PREFIX}{tenant}/{chosen}/"

    def marks(self, head: bytes) -> Mapping[str, Mark]:
        """By slot: the marks of contents whose first line is that of `head`."""
        folder = self.place(head)
        return {key.removeprefix(folder): Mark.decode(note) for key, note in self._store.notes(folder).items()}

    def entry(self, head: bytes, slot: str | None, mark: Mark) -> Entry:
        """The entry at this slot, whose mark was read before; None makes a new one at the first move."""
        return Entry(self._store, self.place(head), slot, mark.encode() if slot else None)

    def place(self, head: bytes) -> str:
        """Where the entries of contents with this first line lie: what two such contents have in common."""
        return f"{self._folder}{head_digest(head)}/"


def prune(store: StateStore, tenant: str, before: int) -> int:
    """Forgets the entries that were last moved before this time (microseconds); returns how many. What was forgotten is
    read again if it is fed again, and recognised by its ids where the tape's detectors still remember them."""
    return forget(store, store.notes(f"{PREFIX}{tenant}/"), before)


def forget(store: StateStore, notes: Mapping[str, bytes], before: int) -> int:
    """The same of these notes of the ledger."""
    old = [(key, note) for key, note in notes.items() if Mark.decode(note).at < before]
    return sum(store.move_note(key, note, None) for key, note in old)
