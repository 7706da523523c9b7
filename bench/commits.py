"""`python -m bench.commits [VERSIONS]`: what a commit, a version's storage and reading back any version cost, as a case
grows to 100,000 versions: with 100 recurring fingerprints, and with as many fingerprints as versions."""

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
CASE = "default/host:10.0.0.5"
CHUNK = 1_000
_START = 1_700_000_000_000_000
_EVIDENCE = evidence_of([])


def _branch(number: int, fingerprint: int, parent: str) -> bytes:
    analysis = Analysis(
        tenant="default",
        subject="host:10.0.0.5",
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
        subject="host:10.0.0.5",
        parents=(parent,),
        inputs=(),
        analyses=(analysis.id,),
        author=Author(kind="detectors", name="bench"),
        at=_START + number,
    )
    body = analysis.model_dump(mode="json", by_alias=True)
    return StateVersion(id=header.version_id(), header=header, contents=(Content(id=analysis.id, body=body),)).encode()


def _grow(engine: Engine, versions: int, fingerprints: int, sizes: dict[int, int], file: Path) -> dict[int, float]:
    """Commits one version after another. Seconds a commit, by number; `sizes` gets the home's bytes at some numbers."""
    merger = Merger(engine.log, engine.store)
    at = TopicPartition(topics.VERSIONS, 0)
    parent = genesis("default", "host:10.0.0.5").version_id()
    costs: dict[int, float] = {}
    marks = {100 + CHUNK, versions, versions // 10}
    started = time.perf_counter()
    for number in range(1, versions + 1):
        value = _branch(number, number % fingerprints, parent)
        before = time.perf_counter()
        merger.handle([Batch(at, [LogRecord(number, CASE, value, _START)], number + 1)])
        costs[number] = time.perf_counter() - before
        if number in marks:
            sizes[number] = sum(one.stat().st_size for one in file.iterdir())
    print(f"  {versions:,} commits in {time.perf_counter() - started:.0f} s", flush=True)
    return costs


def _median(costs: dict[int, float], around: int) -> float:
    """Microseconds: the median of the thousand commits from `around` on, or before it at the end."""
    last = max(costs)
    first = min(around, last - CHUNK + 1)
    return statistics.median(costs[number] for number in range(first, first + CHUNK)) * 1e6


def _timed(read: Callable[[], object], times: int = 15) -> float:
    """Milliseconds: the median."""
    spent = []
    for _ in range(times):
        before = time.perf_counter()
        read()
        spent.append(time.perf_counter() - before)
    return statistics.median(spent) * 1e3


def _figures(versions: int, fingerprints: int, folder: Path) -> None:
    sizes: dict[int, int] = {}
    with open_engine(folder) as engine:
        for topic in topics.ALL:
            engine.log.create_topic(topic, 1)
        costs = _grow(engine, versions, fingerprints, sizes, folder)
        early, late = _median(costs, 100), _median(costs, versions)
        print(f"  commit at version 100: {early:.0f} us, at {versions:,}: {late:.0f} us, ratio {late / early:.2f}")
        tenth = versions // 10
        print(
            f"  bytes a version up to {tenth:,}: {sizes[tenth] / tenth:.0f}, up to {versions:,}:"
            f" {sizes[versions] / versions:.0f}"
        )
        base = statistics.mean(_timed(lambda n=n: load_summary(engine.store, CASE, n)) for n in (100, 130, 160))
        print(f"  current analyses and counts at version 100: {base:.2f} ms")
        for number in (versions // 100, tenth, versions // 2 + 31, versions - 1):
            spent = _timed(lambda number=number: load_summary(engine.store, CASE, number))
            print(f"    at version {number:,}: {spent:.2f} ms, ratio {spent / base:.2f}")


def main() -> None:
    """Prints the figures."""
    versions = int(sys.argv[1]) if len(sys.argv) > 1 else VERSIONS
    memory = Path("/dev/shm")  # noqa: S108 - memory, so that the disk's sync is not what is measured
    for fingerprints in (RECURRING, versions):
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            print(f"{fingerprints:,} fingerprints, one version a commit:", flush=True)
            _figures(versions, fingerprints, Path(folder))


if __name__ == "__main__":
    main()
