"""What the feed could not read, kept on the topic `quarantine`; and the list of all that lies there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engines.log import EventLog, LogRecord, NewRecord, TopicPartition
from engines.store import StateStore
from engines.topics import QUARANTINE
from schemas.errors import InputError, RecordInvalid, TenantMismatch
from schemas.quarantined import Quarantined, Source, quarantined
from workers.feed.source import Oversized

AUTHOR = "feed"
REQUEUED = "requeued/"
"""Notes `requeued/<tenant>/<id>` say that a quarantined record is on the tape after all. They are the feed's, and live
as long as the record lies on the topic."""
_BATCH = 500
_AT_ONCE = 1024 * 1024
"""About so many bytes of faults are made into records at once: what stands beside each may be much longer than it."""


class Fault(NamedTuple):
    """A line that could not be used: its number (from 1), bytes after redaction, and why. `context`: the reader's, in
    force at this line."""

    line: int
    data: bytes
    oversized: Oversized | None
    error: InputError
    request: str
    context: str = ""


def quarantined_line(tenant: str, file: str, options: dict[str, Any], fault: Fault, at: int) -> Quarantined:
    """The record for a fault. `options` are the feed's choices; beside them stand, where there are any, the `request`
    id of the line and the reader's `context`. A line too long to be held is named by the digest of the whole."""
    own = {"request": fault.request, "context": fault.context}
    beside: dict[str, Any] = {**options, **{name: value for name, value in own.items() if value}}
    # a name need not be UTF-8; what is not is shown as \\xff
    named = os.fsencode(file).decode("utf-8", "backslashreplace")
    source = Source(file=named, line=fault.line, options=beside)
    code, reason = fault.error.code, str(fault.error)
    whole = None if fault.oversized is None else (fault.oversized.size, fault.oversized.digest)
    return quarantined(tenant, "input", code, reason, fault.data, source, author=AUTHOR, at=at, whole=whole)


def new_record(record: Quarantined) -> NewRecord:
    """The record for the topic."""
    return NewRecord(record.tenant, record.encode())


def batches(faults: Iterable[Fault]) -> Iterator[list[Fault]]:
    """The faults in order, so many at a time that their records stay small together."""
    batch: list[Fault] = []
    size = 0
    for fault in faults:
        batch.append(fault)
        size += len(fault.data) + len(fault.context)
        if size >= _AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class Requeued(NamedTuple):
    """When a quarantined record was requeued (microseconds), and the id of what it became."""

    at: int
    observation: str


class Listed(NamedTuple):
    """A quarantined record and, where it was requeued, what became of it."""

    record: Quarantined
    requeued: Requeued | None


def listing(log: EventLog, store: StateStore, tenant: str | None = None) -> Iterator[Listed]:
    """Everything on the topic `quarantine`, of one tenant or of all, each id once, oldest first within a partition.

    What lies there and cannot be read is listed too, as a record of what `record`. Holds the ids in memory, not the
    records.
    """
    seen: set[str] = set()
    notes = store.notes(f"{REQUEUED}{tenant}/" if tenant is not None else REQUEUED)
    done = {key.rpartition("/")[2]: Requeued(**json.loads(note)) for key, note in notes.items()}
    for at, one in _all(log):
        record = _read(at, one)
        if record.id in seen or tenant not in (None, record.tenant):
            continue
        seen.add(record.id)
        yield Listed(record, done.get(record.id))


def find(log: EventLog, store: StateStore, identifier: str, tenant: str | None = None) -> Listed | None:
    """The quarantined record of this id, or None."""
    return next((one for one in listing(log, store, tenant) if one.record.id == identifier), None)


def mark_requeued(store: StateStore, record: Quarantined, requeued: Requeued) -> None:
    """Notes that the record is on the tape now; of two who did it at once the first stays noted."""
    store.move_note(f"{REQUEUED}{record.tenant}/{record.id}", None, json.dumps(requeued._asdict()).encode())


def forget_requeued(store: StateStore, tenant: str, before: int) -> int:
    """Removes the notes of what was requeued before this time (microseconds), which retention has deleted from the
    topic; returns how many."""
    return forget(store, store.notes(f"{REQUEUED}{tenant}/"), before)


def forget(store: StateStore, notes: Mapping[str, bytes], before: int) -> int:
    """The same of these notes of what was requeued."""
    old = [(key, note) for key, note in notes.items() if Requeued(**json.loads(note)).at < before]
    return sum(store.move_note(key, note, None) for key, note in old)


def _all(log: EventLog) -> Iterator[tuple[TopicPartition, LogRecord]]:
    ends = log.end_offsets(QUARANTINE)
    for partition, start in sorted(log.start_offsets(QUARANTINE).items()):
        at = TopicPartition(QUARANTINE, partition)
        while start < ends[partition] and (records := log.read(at, start, _BATCH)):
            yield from ((at, one) for one in records)
            start = records[-1].offset + 1


def _read(at: TopicPartition, one: LogRecord) -> Quarantined:
    try:
        record = Quarantined.parse(one.value)
        if record.tenant != one.key:
            raise TenantMismatch
    except InputError as error:
        source = Source(topic=at.topic, partition=at.partition, offset=one.offset)
        reason = f"{at.topic}, partition {at.partition}, offset {one.offset}: {error}"
        return quarantined(one.key, "record", error.code, reason, one.value, source, author=AUTHOR, at=one.appended_at)
    return record


def payload_of(record: Quarantined) -> bytes:
    """The bytes of a quarantined record. Raises RecordInvalid where only a prefix of them was kept."""
    if record.cut:
        raise RecordInvalid(f"only the first part of its {record.size} bytes was kept: feed the file again instead")
    return record.data
