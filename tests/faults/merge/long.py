"""A long case, everything that can be asked of it, and homes in which it is pruned or not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.sqlite import FILE, open_engine
from engines.topics import VERSIONS
from merge.history import difference, history, moment, provenance, state_at
from merge.merger import Merger
from merge.reading import load_summary, whole
from schemas.version import StateVersion, genesis
from tests import factories
from tests.faults.merge.homes import made

CASE = factories.CASE
LENGTH = 700
KEEP = 50
PRUNED = 640
"""The newest snapshot at or below LENGTH - KEEP: one is taken at every 64th version."""
OTHER = "host:10.0.0.6"
ASKED = (0, 1, 63, 64, 65, 255, 256, 300, 512, 639, 640, 641, 699, 700)


def grown(home: Path, length: int) -> list[StateVersion]:
    """A case of this many versions, most by an author who looked at the one before, and beside it another of a few; ten
    fingerprints recur."""
    branches = []
    with open_engine(made(home)) as engine:
        merger = Merger(engine.log, engine.store, now=lambda: factories.START)
        consumer = engine.log.consumer(merger.group, merger.topics)
        seen = [genesis(factories.TENANT, factories.SUBJECT).version_id()]
        for n in range(length):
            about = factories.observation(n)
            said = factories.analysis(n % 10, at=factories.START + n, on=(about,), score=n)
            parent = "ver_" + "0" * 64 if n == 650 else seen[3] if n == 600 else seen[-1]
            branches.append(factories.branch(said, about, parent=parent, author=f"author {n}"))
            beside = [factories.finding(n, subject=OTHER)] if n % 100 == 0 else []
            engine.log.append(VERSIONS, factories.appended(branches[-1], *beside))
            while batches := consumer.poll(9, 0):
                consumer.commit(merger.handle(batches))
            seen.append(engine.store.heads([CASE])[CASE].id)
        consumer.close()
    return branches


def copied(original: Path, into: Path) -> Path:
    into.mkdir(exist_ok=True)
    shutil.copy(original / FILE, into / FILE)
    return into


def said(engine: Engine) -> dict[str, Any]:
    """Everything that can be asked of a case."""
    store, log = engine.store, engine.log
    ids = [
        one for version in history(store, CASE, log=log) for one in (*version.header.analyses, *version.header.inputs)
    ]
    return {
        "summaries": [load_summary(store, CASE, number, log=log) for number in ASKED],
        "moments": [moment(store, CASE, number, log) for number in ASKED],
        "states": [state_at(store, CASE, number, log) for number in ASKED],
        "history": [version.model_copy(update={"contents": ()}) for version in history(store, CASE, log=log)],
        "whole": [version.encode() for version in whole(store, CASE, 1, LENGTH, log)],
        "difference": [difference(store, CASE, a, b, log) for a, b in ((0, 5), (100, 110), (600, 700), (700, 3))],
        "provenance": provenance(store, CASE, ids, log),
        "known": store.known(CASE, ids),
        "head": (store.heads([CASE]), store.row(CASE), store.published([CASE])),
    }


def line(engine: Engine) -> list[bytes]:
    """All versions with all their contents, as on the tape: whatever else can be asked follows from them."""
    return [version.encode() for version in whole(engine.store, CASE, 1, LENGTH, engine.log)]
