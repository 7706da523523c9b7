"""Assessing a case anew by another policy: a new version that a person makes. Old versions stay as they are, and later
merges use the settings' policy again."""

from __future__ import annotations

from engines.log import EventLog
from engines.store import StateStore
from merge.assess import assess
from merge.outbox import publish
from merge.plan import Maker, reassessment
from merge.policies.registry import BoundPolicy
from merge.reading import load_summary, versions
from schemas.errors import Lost
from schemas.keys import parse_case
from schemas.version import Author, StateVersion

ATTEMPTS = 50


def reassess(
    store: StateStore,
    log: EventLog,
    case: str,
    policy: BoundPolicy,
    *,
    person: str,
    now: int,
    secret: bytes | None = None,
) -> StateVersion:
    """Commits and publishes a version that adds nothing but the assessment by `policy`, authored by `person` at `now`
    (microseconds). Returns it. Raises UnknownCase; Lost where other writers were first every time."""
    maker = Maker(policy, Author(kind="person", name=person), now, secret)
    for _ in range(ATTEMPTS):
        planned = reassessment(parse_case(case), load_summary(store, case, log=log, secret=secret), maker)
        if store.commit([planned.commit])[0]:
            version = planned.versions[-1]
            publish(store, log, {case: version.number}, {case: planned.commit.versions})
            return version
    raise Lost(f"other writers moved `{case}` first, {ATTEMPTS} times: try again")


def would_change(store: StateStore, log: EventLog, case: str, policy: BoundPolicy) -> bool:
    """Whether `policy` assesses the case otherwise, in anything, than its newest version was assessed. Raises
    UnknownCase."""
    summary = load_summary(store, case, log=log)
    newest = next(versions(store, case, summary.number, summary.number, log))
    made = assess(summary.current.values(), summary.newest, policy)
    return made.digest() != newest.header.assessment_digest
