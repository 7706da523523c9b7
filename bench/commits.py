"""`python -m bench.commits [VERSIONS]`: what a commit, a version's storage and reading back any version cost as a case
grows to 100,000 versions with 100 recurring fingerprints; and the same for a case of 100,000 distinct fingerprints."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engines import topics
from engines.engine import Engine
from engines.log import Batch, LogRecord, TopicPartition
from engines.sqlite import open_engine
from merge.merger import Merger
from merge.reading import load_summary
from schemas.analysis import Analysis, evidence_of
from schemas.version import Author, Content, Header, StateVersion, genesis

VERSIONS = 100_000
RECURRING = 100
SUBJECT = "host:10.0.0.5"
CASE = f"default/{SUBJECT}"
CHUNK = 1_000
GROWTH = 500
"""Branch versions folded into one commit while a case is only being made large."""
_START = 1_700_000_000_000_000
_EVIDENCE = evidence_of([])


def branch_record(number: int, fingerprint: int, parent: str, subject: str = SUBJECT) -> bytes:
    """A branch version with one analysis, as it lies on the tape."""
    analysis = Analysis(
        tenant="default",
        subject=subject,
        detector="bench",
        version="1",
        parameters="par_" + "0" * 64,
        fingerprint=f"fingerprint {fingerprint}",
        verdict="suspicious",
        score=500_000 + number % 1000,
        confidence=900_000,
        title="a finding of the bench",
        text="what an analyst would read here is about as long as this sentence is",
        evidence=_EVIDENCE,
        at=_START + number,
    ).identified()
    header = Header(
        tenant="default",
        subject=subject,
        parents=(parent,),
        inputs=(),
        analyses=(analysis.id,),
        author=Author(kind="detectors", name="bench"),
        at=_START + number,
    )
    body = analysis.model_dump(mode="json", by_alias=True)
    return StateVersion(id=header.version_id(), header=header, contents=(Content(id=analysis.id, body=body),)).encode()


class Case:
    """A case that grows by branch versions, each with one new analysis."""

    def __init__(self, engine: Engine, fingerprints: int) -> None:
        self.merger = Merger(engine.log, engine.store)
        self.number = 0
        self._fingerprints = fingerprints
        self._at = TopicPartition(topics.VERSIONS, 0)
        self._parent = genesis("default", SUBJECT).version_id()

    def grow(self, branches: int) -> float:
        """Merges so many branch versions in one commit; returns the seconds it took."""
        records = []
        for _ in range(branches):
            self.number += 1
            value = branch_record(self.number, self.number % self._fingerprints, self._parent)
            records.append(LogRecord(self.number, CASE, value, _START))
        before = time.perf_counter()
        self.merger.handle([Batch(self._at, records, self.number + 1)])
        return time.perf_counter() - before


def _timed(read: Callable[[], object], times: int = 15) -> float:
    """Milliseconds: the median."""
    spent = []
    for _ in range(times):
        before = time.perf_counter()
        read()
        spent.append(time.perf_counter() - before)
    return statistics.median(spent) * 1e3


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def _recurring(engine: Engine, versions: int, folder: Path) -> None:
    """One version a commit, a hundred fingerprints that come again and again."""
    case = Case(engine, RECURRING)
    sizes: dict[int, int] = {}
    costs = []
    for number in range(1, versions + 1):
        costs.append(case.grow(1))
        if number in (versions // 10, versions):
            sizes[number] = _size(folder)
    early = statistics.median(costs[100 : 100 + CHUNK]) * 1e6
    late = statistics.median(costs[-CHUNK:]) * 1e6
    print(f"  commit at version 100: {early:.0f} us, at {versions:,}: {late:.0f} us, ratio {late / early:.2f}")
    means = statistics.mean(costs[100 : 100 + CHUNK]) * 1e6, statistics.mean(costs[-CHUNK:]) * 1e6
    print(f"  the same as means: {means[0]:.0f} us, {means[1]:.0f} us, ratio {means[1] / means[0]:.2f}")
    for number, size in sizes.items():
        print(f"  bytes a version up to {number:,}: {size / number:.0f}")
    base = statistics.mean(_timed(lambda n=n: load_summary(engine.store, CASE, n)) for n in (100, 130, 160))
    print(f"  current analyses and counts at version 100: {base:.2f} ms")
    for number in (versions // 100, versions // 10, versions // 2 + 31, versions - 1):
        spent = _timed(lambda number=number: load_summary(engine.store, CASE, number))
        print(f"    at version {number:,}: {spent:.2f} ms, ratio {spent / base:.2f}")


def _distinct(engine: Engine, fingerprints: int, folder: Path) -> None:
    """No fingerprint comes twice: what is current grows with the case, and so does what a policy is shown."""
    case = Case(engine, fingerprints + 1)
    for target in (100, 1_000, 10_000, fingerprints):
        while case.number < target:
            case.grow(min(GROWTH, target - case.number))
        commit = statistics.median(case.grow(1) for _ in range(7)) * 1e3
        head = engine.store.heads([CASE])[CASE].number
        spent = _timed(lambda head=head: load_summary(engine.store, CASE, head), 3)
        print(
            f"  {target:>7,} fingerprints: commit {commit:.1f} ms, read {spent:.1f} ms,"
            f" {_size(folder) / target:.0f} bytes a fingerprint",
            flush=True,
        )


def main() -> None:
    """Prints the figures."""
    versions = int(sys.argv[1]) if len(sys.argv) > 1 else VERSIONS
    memory = Path("/dev/shm")  # noqa: S108 - memory, so that the disk's sync is not what is measured
    for title, measure in (("100 recurring fingerprints", _recurring), ("distinct fingerprints", _distinct)):
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            print(f"{title}:", flush=True)
            with open_engine(Path(folder)) as engine:
                for topic in topics.ALL:
                    engine.log.create_topic(topic, 1)
                measure(engine, versions, Path(folder))


if __name__ == "__main__":
    main()
