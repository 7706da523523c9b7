"""Homes for fault tests, and what a case comes to whatever happened on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from engines.engine import Engine
from engines.failpoints import VARIABLE
from engines.log import Batch, NewRecord, TopicPartition, lag
from engines.topics import ALL, QUARANTINE, STATES, VERSIONS
from merge.history import moment
from merge.merger import Merger
from merge.tape import partitions_of, records
from schemas.assessment import Assessment
from schemas.quarantined import Quarantined
from schemas.version import StateVersion
from tests.engine import open_home
from tests.factories import appended, logged

ROOT = Path(__file__).parents[3]
PARTITIONS = 2


def made(home: Path, versions: Iterable[StateVersion] = (), bad: Sequence[NewRecord] = ()) -> Path:
    """A home with these branch versions on the tape, and after them these other records."""
    with open_home(home) as engine:
        for topic in ALL:
            engine.log.create_topic(topic, PARTITIONS)
        engine.log.append(VERSIONS, [*appended(*versions), *bad])
    return home


def start(module: str, home: Path, *arguments: str, fail_at: str = "") -> subprocess.Popen[str]:
    """A process of its own that runs a module beside this one, to be killed at a fail point if one is named."""
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.faults.merge.{module}", str(home), *arguments],
        cwd=ROOT,
        env={**os.environ, VARIABLE: fail_at},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> str:
    """What a process wrote, once it has ended well."""
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    return out


def killed(process: subprocess.Popen[str]) -> None:
    """Waits for a process that must die at its fail point."""
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL


def merge(engine: Engine, merger: Merger, limit: int = 100) -> None:
    """Merges everything on `versions` in this process, and commits it."""
    consumer = engine.log.consumer(merger.group, merger.topics)
    while sum(lag(engine.log, merger.group, VERSIONS).values()):
        if batches := consumer.poll(limit, 0.05):
            consumer.commit(merger.handle(batches))
    consumer.close()


def batch(versions: Sequence[StateVersion], partition: int = 0) -> list[Batch]:
    """The versions as a consumer would hand them over."""
    return [Batch(TopicPartition(VERSIONS, partition), logged(*versions), len(versions))]


class Outcome(NamedTuple):
    """What must be the same however a case came to be."""

    current: frozenset[str]
    inputs: int
    analyses: int
    assessment: Assessment | None


def outcomes(engine: Engine) -> Mapping[str, Outcome]:
    """By case."""
    found = {}
    for row in engine.store.cases(None, order="key"):
        at = moment(engine.store, row.key)
        ids = frozenset(one.id for one in at.summary.current.values())
        found[row.key] = Outcome(ids, at.summary.inputs_total, at.summary.analyses_total, at.assessment)
    return found


def published(engine: Engine, case: str) -> list[int]:
    """The numbers of a case in `states`, in the order they came."""
    return [
        StateVersion.parse(record.value).number
        for at in partitions_of(engine.log, STATES, case)
        for record in records(engine.log, at, engine.log.end_offsets(STATES)[at.partition])
        if record.key == case
    ]


def in_quarantine(engine: Engine) -> list[Quarantined]:
    """All that is on `quarantine`, repeats too."""
    ends = engine.log.end_offsets(QUARANTINE)
    return [
        Quarantined.parse(record.value)
        for at in partitions_of(engine.log, QUARANTINE, None)
        for record in records(engine.log, at, ends[at.partition])
    ]
