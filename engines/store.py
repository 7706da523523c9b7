"""StateStore: the port to the running totals printed under the tape. Everything in it moves by compare-and-swap."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from engines.sizes import StoreSizes


class Head(NamedTuple):
    """Where a case's one line ends: the number and id of its newest version."""

    number: int
    id: str


class StoredContent(NamedTuple):
    """A content (`schemas.version.Content`) of a version, as the bytes of its JSON."""

    id: str
    body: bytes


class StoredVersion(NamedTuple):
    """A merged version: `record` is the JSON of its StateVersion without contents, which lie beside it."""

    number: int
    id: str
    record: bytes
    contents: Sequence[StoredContent]


class Snapshot(NamedTuple):
    """What bounds a fold: `body` is the summary (`merge.summary`) of the case at `number`, as JSON."""

    number: int
    body: bytes


class CaseRow(NamedTuple):
    """A case in the index, as of its newest version. `score` in millionths, `updated_at` in microseconds; `analyses`
    and `conflicts` count current ones."""

    key: str
    tenant: str
    subject: str
    number: int
    id: str
    verdict: str
    severity: str
    score: int
    analyses: int
    conflicts: int
    updated_at: int


class Commit(NamedTuple):
    """A move of one case's head: consecutive `versions` on top of `expected`, an optional snapshot at one of them, and
    the case's row as of the last."""

    case: str
    expected: Head
    versions: Sequence[StoredVersion]
    row: CaseRow
    snapshot: Snapshot | None = None


class Move(NamedTuple):
    """A move of one case's mark: how far its versions are known to have reached `states`. `places`: by number, the
    offsets there of versions above `expected`, as far as they are known."""

    case: str
    expected: int
    number: int
    places: Mapping[int, int] = {}


class Prune(NamedTuple):
    """What the store lets go of one case: all versions after `expected` up to `number`, and of their contents (and of
    those that earlier prunes left) all but `keep`; the snapshots at `snapshots`. A snapshot at `number` stays, on which
    whatever is above stands. `places`: by number, the offsets of these versions in `states`."""

    case: str
    expected: int
    number: int
    keep: Collection[str]
    snapshots: Sequence[int]
    places: Mapping[int, int]


CaseOrder = Literal["score", "updated", "key"]


class Manifest(NamedTuple):
    """What a group's detectors know of one partition: moves by compare-and-swap on (generation, offset). `body` is
    small and names the immutable parts it needs; `offset` is how far it has seen."""

    generation: int
    offset: int
    body: bytes


class StateStore(Protocol):
    """The running totals.

    Every method raises EngineUnavailable (retriable) or StorageFull where the engine does not answer or has no room.
    Batched: one call for many cases is one round trip.
    """

    def heads(self, cases: Sequence[str]) -> Mapping[str, Head]:
        """The heads of these cases; a case that has no version yet is missing."""
        ...

    def commit(self, commits: Sequence[Commit]) -> Sequence[bool]:
        """Moves each head whose case still stands at `expected` (number 0 with the genesis id where it has none): all
        of one commit or nothing of it. False where another writer was first: nothing of that commit can be seen. A
        commit whose last version is in the line already may be answered with True: an engine that repeats calls by
        itself cannot tell its own from the caller's. Raises UsageError, before anything is written, where one of them
        is no consecutive move of its case's head."""
        ...

    def versions(self, case: str, first: int, last: int) -> Sequence[StoredVersion]:
        """Versions `first`..`last` that the store keeps, by number, without contents."""
        ...

    def known(self, case: str, ids: Sequence[str]) -> set[str]:
        """Which of these contents the case's line already has, whether the store keeps them still or not."""
        ...

    def known_by_case(self, asked: Mapping[str, Sequence[str]]) -> Mapping[str, set[str]]:
        """The same of many cases at once: by case, which of these it has; every case asked for is in the answer."""
        ...

    def contents(self, case: str, ids: Sequence[str]) -> Mapping[str, bytes]:
        """The JSON of these contents of the case; unknown ones, and those no longer kept, are missing."""
        ...

    def content_numbers(self, case: str, ids: Sequence[str]) -> Mapping[str, int]:
        """By content id: the number of the version that brought it, whether it is kept still or not."""
        ...

    def snapshot(self, case: str, number: int) -> Snapshot | None:
        """The newest snapshot at or below `number`."""
        ...

    def cases(
        self, tenant: str | None, *, order: CaseOrder = "score", limit: int | None = None, after: str | None = None
    ) -> Sequence[CaseRow]:
        """Rows of the index, of one tenant or of all: worst first, newest first, or by key; on a cluster the index may
        follow a commit by a moment. `after` is the key of the
        last row of the page before; raises UnknownCase where there is none. Equal rows are ordered by key."""
        ...

    def count(self, tenant: str | None) -> int:
        """How many cases there are, of one tenant or of all."""
        ...

    def row(self, case: str) -> CaseRow | None:
        """The case's row, or None."""
        ...

    def published(self, cases: Sequence[str]) -> Mapping[str, int]:
        """By case: the last number known to have reached `states`; 0 where none has."""
        ...

    def move_published(self, moves: Sequence[Move]) -> Sequence[bool]:
        """Moves each mark that still stands where it was expected. False says that it did not, or that an engine which
        repeats calls by itself had moved it already: read it again."""
        ...

    def unpublished(self, limit: int) -> Sequence[str]:
        """Cases whose head lies beyond their mark, at most `limit`."""
        ...

    def places(self, case: str, numbers: Sequence[int]) -> Mapping[int, int]:
        """By number: the offsets in `states` of these versions, as far as they were noted. A place may be wrong after
        `states` was made anew: whoever reads there looks at what it finds."""
        ...

    def pruned(self, cases: Sequence[str]) -> Mapping[str, int]:
        """By case: the last number that the store no longer keeps; 0 where it keeps all."""
        ...

    def prunable(self, versions: int, limit: int) -> Sequence[str]:
        """Cases of which the store keeps more than `versions` (or 64, where that is more) that have reached `states`:
        those with the most first, at most `limit`."""
        ...

    def prune(self, prunes: Sequence[Prune]) -> Sequence[bool]:
        """Lets go of old versions, of each case where it still is pruned up to `expected`: all of it or nothing. What
        is `known` of a case stays known. Raises UsageError, before anything is removed, where one of them is no move
        up, goes beyond the case's mark or to its head, or has no snapshot at its number; EngineError where a content
        that is to stay is not there."""
        ...

    def drop(self, cases: Sequence[str]) -> None:
        """Forgets everything about these cases: for a store that is made anew from the tape, and refused meanwhile."""
        ...

    def put_part(self, owner: str, part: str, body: bytes) -> None:
        """Keeps an immutable part under (owner, part); a repeat with the same bytes is harmless, with others it raises
        EngineError."""
        ...

    def part(self, owner: str, part: str) -> bytes | None:
        """A part's bytes."""
        ...

    def parts(self, owner: str) -> Sequence[str]:
        """The names of the owner's parts."""
        ...

    def drop_parts(self, owner: str, parts: Sequence[str]) -> None:
        """Forgets these parts."""
        ...

    def manifest(self, owner: str) -> Manifest | None:
        """The owner's manifest."""
        ...

    def manifests(self, prefix: str) -> Mapping[str, Manifest]:
        """By owner: the manifests of all owners whose name starts with `prefix`."""
        ...

    def move_manifest(self, owner: str, expected: Manifest | None, new: Manifest) -> bool:
        """Moves the manifest where (generation, offset) still are those of `expected` (None: there is none yet), and
        the new pair is not smaller. False: a later owner has moved it."""
        ...

    def forget_owner(self, owner: str) -> int:
        """Forgets an owner: its manifest, and its parts, of which it tells how many there were."""
        ...

    def note(self, key: str) -> bytes | None:
        """A small named value (the feed ledger's entries are such)."""
        ...

    def notes(self, prefix: str, *, after: str = "", limit: int | None = None) -> Mapping[str, bytes]:
        """Notes whose key starts with `prefix`, by key: all, or of those beyond `after` the first `limit`."""
        ...

    def move_note(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        """Writes (or with None removes) the note where it still is `expected`."""
        ...

    def epoch(self) -> str | None:
        """The name that this store was given when it was made, or made anew; None where nobody gave it one yet."""
        ...

    def begin(self, epoch: str, *, anew: bool = False) -> bool:
        """Gives the store its epoch where it has none, or (`anew`) another one. False: it has one already, or (`anew`)
        it was refused by another meanwhile, or never."""
        ...

    def refused(self) -> str | None:
        """Why nobody may work on the store until it is made anew, in words, or None."""
        ...

    def refuse(self, reason: str | None) -> None:
        """Marks the store as one that nobody may work on (None: lifts it) but whoever marked it last, who makes it
        anew. An engine that shares its store over a network then raises StoreBehind from every call that reads heads or
        commits."""
        ...

    def sizes(self) -> StoreSizes:
        """How much there is of everything, at a cost that follows the number of cases, parts and notes, not that of
        versions and contents."""
        ...

    def close(self) -> None:
        """Lets go of what it holds open."""
        ...
