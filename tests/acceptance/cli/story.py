"""A case with a history, made branch by branch, for tests of the verbs that look at cases.

Version 1: beaconing says suspicious, looking at the empty state. Version 2: it says malicious of the same fingerprint,
looking at version 1. Version 3: dns calls the same target benign, looking at version 1 still, and an analyst's sentence
comes with it. Another case, of another tenant, has one version.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engines.topics import ALL, VERSIONS
from merge.merger import Merger
from schemas.scales import SECOND
from schemas.version import StateVersion, genesis
from tests import factories
from tests.engine import open_home
from tests.faults.merge.homes import merge

CASE, SUBJECT = factories.CASE, factories.SUBJECT
OTHER = "acme/user:alice"
PARTITIONS = 2
SENTENCE = "the host was rebuilt on Monday"
GENESIS = genesis(factories.TENANT, SUBJECT).version_id()
FIRST = factories.observation(0)
SECOND_SEEN = factories.observation(1)
TOLD = factories.observation(kind="text", text=SENTENCE)
SUSPICIOUS = factories.analysis(0, on=(FIRST,), target="203.0.113.9:443/tcp")
MALICIOUS = factories.analysis(
    0,
    on=(FIRST, SECOND_SEEN),
    target="203.0.113.9:443/tcp",
    verdict="malicious",
    score=900_000,
    at=factories.START + SECOND,
    text="line one\nline two",
)
BENIGN = factories.analysis(
    1, detector="dns", target="203.0.113.9:443/tcp", verdict="benign", score=100_000, confidence=500_000
)
ALICE = factories.analysis(tenant="acme", subject="user:alice", score=950_000, verdict="malicious")


def append(home: Path, *branches: StateVersion) -> None:
    """Puts branch versions on the tape and merges them, at a time that moves by a second a version."""
    with open_home(home) as engine:
        for topic in ALL:
            engine.log.create_topic(topic, PARTITIONS)
        engine.log.append(VERSIONS, factories.appended(*branches))
        done = sum(row.number for row in engine.store.cases(None))
        merge(engine, Merger(engine.log, engine.store, now=lambda: factories.START + done * SECOND))


def version_id(home: Path, number: int) -> str:
    """The id of a version of CASE."""
    with open_home(home, read_only=True) as engine:
        return engine.store.versions(CASE, number, number)[0].id


def tell(home: Path, after: Callable[[int], None] = lambda number: None) -> Path:
    """Makes the story in a home; `after` is called when a version of CASE is there."""
    append(home, factories.branch(SUSPICIOUS, FIRST))
    after(1)
    append(home, factories.branch(MALICIOUS, SECOND_SEEN, parent=version_id(home, 1)))
    after(2)
    append(home, factories.branch(BENIGN, TOLD, parent=version_id(home, 1), author="dns"))
    after(3)
    append(home, factories.branch(ALICE))
    return home
