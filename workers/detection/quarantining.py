"""Quarantine records of a worker: bad records, and plug-ins that failed on good ones."""

from __future__ import annotations

from engines.log import LogRecord, NewRecord, TopicPartition
from schemas.errors import InputError
from schemas.keys import DEFAULT_TENANT, valid_tenant
from schemas.observation import Observation
from schemas.quarantined import Source, quarantined
from workers.detection.guard import Fault


def bad_record(record: LogRecord, at: TopicPartition, error: InputError, author: str, now: int) -> NewRecord:
    """The record for what could not be read. Its tenant is the key's, which is all that can be believed of it."""
    tenant = record.key.partition("/")[0]
    tenant = tenant if valid_tenant(tenant) else DEFAULT_TENANT
    source = Source(topic=at.topic, partition=at.partition, offset=record.offset)
    made = quarantined(tenant, "record", error.code, str(error), record.value, source, author=author, at=now)
    return NewRecord(tenant, made.encode())


def fault_on(observation: Observation, value: bytes, fault: Fault, detector: str, now: int) -> NewRecord:
    """The record for a detector that failed on an observation; it names the observation by its id and bytes (`value`,
    as they came), not its place, so that a repeat after a crash is the same record."""
    made = quarantined(
        observation.tenant,
        "result",
        fault.code,
        fault.reason,
        value,
        Source(options={"observation": observation.id, "fault": fault.reason}),
        author=detector,
        at=now,
        subject=observation.subject,
    )
    return NewRecord(observation.tenant, made.encode())


def fault_about(tenant: str, subject: str, about: str, fault: Fault, detector: str, now: int) -> NewRecord:
    """The record for a detector that failed to conclude a window; `about` names the window."""
    made = quarantined(
        tenant,
        "result",
        fault.code,
        fault.reason,
        about.encode(),
        Source(options={"window": about, "fault": fault.reason}),
        author=detector,
        at=now,
        subject=subject,
    )
    return NewRecord(tenant, made.encode())
