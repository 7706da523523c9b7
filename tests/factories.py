"""Observations, analyses and branch versions for tests: all fields have a plain default, and all ids hold."""

from __future__ import annotations

from typing import Any

from engines.log import LogRecord, NewRecord
from schemas.analysis import Analysis, evidence_of
from schemas.observation import Flag, Observation, ObservationContent
from schemas.scales import SECOND
from schemas.verdicts import Verdict
from schemas.version import Author, Content, Header, StateVersion, genesis

TENANT = "default"
SUBJECT = "host:10.0.0.5"
CASE = f"{TENANT}/{SUBJECT}"
START = 1_588_248_000 * SECOND
"""2020-04-30T12:00:00Z in microseconds: the event time that `n` = 0 means."""


def observation(
    n: int = 0,
    *,
    tenant: str = TENANT,
    subject: str = SUBJECT,
    kind: str = "zeek.conn",
    at: int | None = None,
    data: dict[str, Any] | None = None,
    text: str | None = None,
    origin: str = "sensor",
    flags: tuple[Flag, ...] = (),
) -> Observation:
    """Observation number `n`, `n` seconds after START unless `at` (microseconds) is given."""
    content = ObservationContent(text=text) if text is not None else ObservationContent(data=data or {"n": n})
    return Observation(
        schema_=1,
        tenant=tenant,
        subject=subject,
        kind=kind,
        at=START + n * SECOND if at is None else at,
        content=content,
        origin=origin,
        flags=flags,
    ).proven()


def analysis(
    n: int = 0,
    *,
    tenant: str = TENANT,
    subject: str = SUBJECT,
    detector: str = "beaconing",
    fingerprint: str | None = None,
    target: str | None = None,
    verdict: Verdict = "suspicious",
    score: int = 600_000,
    confidence: int = 1_000_000,
    at: int | None = START,
    provisional: bool = False,
    text: str = "",
    on: tuple[Observation, ...] = (),
) -> Analysis:
    """An analysis about fingerprint `n`, resting on the observations `on`."""
    return Analysis(
        tenant=tenant,
        subject=subject,
        detector=detector,
        version="1",
        parameters="par_" + "0" * 64,
        fingerprint=f"fingerprint {n}" if fingerprint is None else fingerprint,
        target=target,
        verdict=verdict,
        score=score,
        confidence=confidence,
        title=f"analysis {n}",
        text=text,
        evidence=evidence_of([(one.id, one.at) for one in on]),
        at=at,
        provisional=provisional,
    ).identified()


def content(record: Observation | Analysis) -> Content:
    """A record in its plain envelope."""
    return Content(id=record.id, body=record.model_dump(mode="json", by_alias=True))


def branch(
    *records: Observation | Analysis,
    parent: str | None = None,
    author: str = "beaconing",
    tenant: str | None = None,
    subject: str | None = None,
    at: int = START,
) -> StateVersion:
    """A branch version that adds these records; its case is theirs unless given, its parent version 0."""
    tenant = tenant or (records[0].tenant if records else TENANT)
    subject = subject or (records[0].subject if records else SUBJECT)
    header = Header(
        tenant=tenant,
        subject=subject,
        parents=(parent or genesis(tenant, subject).version_id(),),
        inputs=tuple(sorted(one.id for one in records if isinstance(one, Observation))),
        analyses=tuple(sorted(one.id for one in records if isinstance(one, Analysis))),
        author=Author(kind="detectors", name=author, version="1"),
        at=at,
    )
    contents = tuple(content(one) for one in sorted(records, key=lambda one: one.id))
    return StateVersion(id=header.version_id(), header=header, contents=contents)


def finding(n: int, **fields: Any) -> StateVersion:
    """Branch number `n` as a detector makes it: one observation and one analysis that rests on it."""
    case = {name: fields[name] for name in ("tenant", "subject") if name in fields}
    seen = observation(n, **case)
    return branch(analysis(n, on=(seen,), **fields), seen)


def appended(*versions: StateVersion) -> list[NewRecord]:
    """The versions as records to append."""
    return [NewRecord(one.case, one.encode()) for one in versions]


def logged(*versions: StateVersion) -> list[LogRecord]:
    """The versions as records read from the beginning of a partition."""
    return [LogRecord(offset, one.case, one.encode(), START) for offset, one in enumerate(versions)]
