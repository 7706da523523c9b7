"""Requeue: what was quarantined is tried again, with today's readers and, where given, other choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from engines.log import EventLog, NewRecord
from engines.store import StateStore
from engines.topics import OBSERVATIONS
from schemas.errors import InputError, RecordInvalid, TenantMismatch, UsageError
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from workers.feed.encode import Encoder
from workers.feed.options import FeedOptions
from workers.feed.quarantine import Requeued, mark_requeued, payload_of
from workers.feed.reader import NoRedaction, Redaction
from workers.feed.sniff import BOM, READERS, of_line

_TABLES = ("mappings", "zeek_fields")
"""Choices of which a change replaces single entries."""


class Outcome(NamedTuple):
    """Whether it is on the tape now: the observation's id, or None and the reason."""

    observation: str | None
    reason: str


def requeue(
    log: EventLog,
    store: StateStore,
    record: Quarantined,
    clock: Callable[[], int],
    *,
    change: Mapping[str, Any] | None = None,
    redaction: Redaction | None = None,
    secret: bytes | None = None,
) -> Outcome:
    """Tries a quarantined record again and, where it works now, appends it to `observations` and notes that it did.

    An `input` is read with the choices it was fed with; `change` replaces some of them by name (`kind`, `subject`, …).
    A `record` of `observations` is checked and appended as it is. Repeating it is harmless: the observation has the
    same id. `clock` gives microseconds. Raises UsageError for a change that cannot be made.
    """
    redaction = redaction or NoRedaction()
    try:
        if record.what == "input":
            options = _options(record, change or {})
            new, identifier = _from_input(record, options, clock(), redaction, secret)
        elif record.what == "record" and record.source.topic == OBSERVATIONS:
            new, identifier = _from_record(record, secret)
        else:
            return Outcome(None, "only inputs of a feed and records of the topic observations can be requeued")
    except InputError as error:
        return Outcome(None, str(error))
    log.append(OBSERVATIONS, [new])
    mark_requeued(store, record, Requeued(clock(), identifier))
    return Outcome(identifier, "requeued")


def _options(record: Quarantined, change: Mapping[str, Any]) -> FeedOptions:
    if "tenant" in change:
        raise UsageError("a quarantined record stays with its tenant")
    beside = ("request", "whole_digest", "redaction")
    chosen = {name: value for name, value in record.source.options.items() if name not in beside}
    try:
        options = FeedOptions.recorded({**chosen, "tenant": record.tenant})
        tables = {name: {**getattr(options, name), **change[name]} for name in _TABLES if name in change}
        return replace(options, **{**change, **tables}) if change else options
    except TypeError:
        raise UsageError(f"no such choice among {', '.join(sorted(change))}") from None


def _from_input(
    record: Quarantined, options: FeedOptions, now: int, redaction: Redaction, secret: bytes | None
) -> tuple[NewRecord, str]:
    line = payload_of(record).removeprefix(BOM)
    choice = of_line(line, options)
    reader = READERS[choice.reader](options, choice.stream, redaction, options.context)
    item = reader.read(line, str(record.source.options.get("request", record.id)))
    if item is None:
        raise RecordInvalid("it holds no record")
    encoder = Encoder(record.tenant, redaction=redaction.version, secret=secret)
    encoder.now = now
    new = encoder.record(item)
    return new, Observation.parse(new.value).id


def _from_record(record: Quarantined, secret: bytes | None) -> tuple[NewRecord, str]:
    value = payload_of(record)
    observation = Observation.parse(value).proven(secret)
    if observation.tenant != record.tenant:
        raise TenantMismatch
    return NewRecord(observation.case, value), observation.id
