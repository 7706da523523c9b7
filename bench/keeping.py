"""`python -m bench.keeping [VERSIONS]`: what pruning costs, and what it costs to read a pruned case of 10,000 versions
back from a partition that holds ten times as many records of others; how quick `casetape home` is on a home of many
cases; and what trimming and giving the space back cost."""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.commits import CASE, branch_record
from casetape.home import use_of
from casetape.run import now
from engines import topics
from engines.engine import Engine
from engines.log import Batch, LogRecord, NewRecord, TopicPartition
from engines.retention import Bounds, trim
from engines.sqlite import FILE, open_engine
from engines.store import CaseRow, Commit, Head, StoredContent, StoredVersion
from merge.history import history, moment, state_at
from merge.merger import Merger
from merge.pruning import prune
from merge.reading import envelopes, versions_at
from merge.tape import partitions_of, records
from schemas.version import StateVersion, genesis

VERSIONS = 10_000
BESIDE = 10
"""Versions of other cases for each one of the long case."""
KEPT = 1_000
CASES = 100_000
BURST_MIB = 300
MIB = 1024 * 1024


def _timed(what: str, read: Callable[[], object]) -> None:
    before = time.perf_counter()
    read()
    print(f"    {what}: {(time.perf_counter() - before) * 1e3:,.1f} ms", flush=True)


def _grow(engine: Engine, count: int) -> None:
    """One case of so many versions, 100 fingerprints that recur, and others beside it in the same partition."""
    merger, at = Merger(engine.log, engine.store), TopicPartition(topics.VERSIONS, 0)
    for number in range(1, count + 1):
        others = (f"host:o{(number * BESIDE + other) % (count // 2)}" for other in range(BESIDE))
        keys = [(CASE, number % 100), *((f"default/{other}", number // 500) for other in others)]
        batch = []
        for key, fingerprint in keys:
            parent = genesis(*key.split("/")).version_id()
            value = branch_record(number, fingerprint, parent, key.partition("/")[2])
            batch.append(LogRecord(number, key, value, now()))
        merger.handle([Batch(at, batch, number + 1)])


def _read(engine: Engine, count: int) -> None:
    store, log = engine.store, engine.log
    content = next(iter(versions_at(store, CASE, [count // 3], log).values())).header.analyses[0]
    _timed("one version", lambda: versions_at(store, CASE, [count // 2 + 31], log))
    _timed("one content", lambda: envelopes(store, CASE, [content], log))
    for number in (count // 100, count // 2 + 31, count):
        _timed(f"all that is current at version {number:,}", lambda number=number: moment(store, CASE, number, log))  # type: ignore[misc]  # bound now
    _timed(f"the history of all {count:,}", lambda: list(history(store, CASE, log=log)))
    _timed("the whole state, every content proved", lambda: state_at(store, CASE, None, log))


def _scan(engine: Engine) -> None:
    (at,) = partitions_of(engine.log, topics.STATES, CASE)
    end = engine.log.end_offsets(topics.STATES)[at.partition]
    for record in records(engine.log, at, end):
        if record.key == CASE:
            StateVersion.parse(record.value)


def _pruning(folder: Path, count: int) -> None:
    with open_engine(folder) as engine:
        for topic in topics.ALL:
            engine.log.create_topic(topic, 1)
        _grow(engine, count)
        print(f"  from the store ({engine.log.end_offsets(topics.STATES)[0]:,} records in `states`):")
        _read(engine, count)
        _timed("for comparison: looking through the partition", lambda: _scan(engine))
        before, start = engine.store.sizes(), time.perf_counter()
        while prune(engine.store, engine.log, CASE, KEPT).versions:
            continue
        spent, after = time.perf_counter() - start, engine.store.sizes()
        print(f"  pruning {after.pruned:,} versions: {spent / after.pruned * 1e6:.0f} us each")
        freed = before.versions.bytes + before.snapshots.bytes - after.versions.bytes - after.snapshots.bytes
        print(f"    bytes of each that left the store: {(freed - after.remains.bytes) / after.pruned:,.0f}")
    for table in ("content_index", "places"):
        print(f"    bytes of each that stay in {table}: {_bytes_of(folder, table) / (count * (BESIDE + 1)):.0f}")
    with open_engine(folder) as engine:
        print("  from the tape:")
        _read(engine, count)


def _bytes_of(folder: Path, table: str) -> int:
    """The bytes of a table's pages."""
    file = sqlite3.connect(folder / FILE)
    ((size,),) = file.execute("SELECT sum(pgsize) FROM dbstat WHERE name = ?", (table,)).fetchall()
    file.close()
    return int(size)


def _home(folder: Path, count: int) -> None:
    """Cases made of nothing: the store does not look into what it keeps."""
    with open_engine(folder) as engine:
        for topic in topics.ALL:
            engine.log.create_topic(topic, topics.DEFAULT_PARTITIONS)
        chance = random.Random(1)
        for start in range(0, count, 1_000):
            engine.store.commit([_made(f"default/host:{number}", chance) for number in range(start, start + 1_000)])
    with open_engine(folder, read_only=True) as engine:
        size = engine.space.use().data / MIB if engine.space else 0
        print(f"  a home of {count:,} cases and {size:,.0f} MiB:")
        _timed("what `casetape home` reads", lambda: use_of(engine))


def _made(case: str, chance: random.Random) -> Commit:
    version = StoredVersion(1, case, chance.randbytes(700), (StoredContent(f"{case} content", chance.randbytes(700)),))
    row = CaseRow(case, "default", case.partition("/")[2], 1, case, "unknown", "info", 0, 1, 0, 0)
    return Commit(case, Head(0, ""), [version], row)


def _burst(folder: Path, mib: int, *, shrinks: bool) -> None:
    if not shrinks:
        # a file that was begun otherwise stays as it is
        sqlite3.connect(folder / FILE).execute("PRAGMA journal_mode=WAL").fetchall()
    at, chance = TopicPartition(topics.OBSERVATIONS, 0), random.Random(1)
    with open_engine(folder) as engine:
        engine.log.create_topic(topics.OBSERVATIONS, 1)
        batch = [NewRecord("default/a", chance.randbytes(250)) for _ in range(1_000)]
        rounds = mib * MIB // 250_000
        before = time.perf_counter()
        for _ in range(rounds):
            engine.log.append(at.topic, batch)
        rate = rounds * 1_000 / (time.perf_counter() - before)
        print(
            f"  a file that {'gives back' if shrinks else 'only reuses'} its pages: {rate:,.0f} records of 250 bytes/s"
        )
        if not shrinks or engine.space is None:
            return
        full = engine.space.use().file
        _timed(f"trimming {mib:,} MiB to 10", lambda: trim(engine.log, at.topic, Bounds(size=10 * MIB), []))
        spent, steps = time.perf_counter(), 0
        while engine.space.give_back(32 * MIB):
            steps += 1
        spent = time.perf_counter() - spent
        left = engine.space.use().file
        print(f"    giving {(full - left) / MIB:,.0f} MiB back: {spent * 1e3:,.0f} ms in {steps} steps", flush=True)


def main() -> None:
    """Prints the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else VERSIONS
    print(f"a case of {count:,} versions, of which the store keeps {KEPT:,}:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        _pruning(Path(folder), count)
    print("space:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        _home(Path(folder), CASES)
    for shrinks in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            _burst(Path(folder), BURST_MIB, shrinks=shrinks)


if __name__ == "__main__":
    main()
