"""A merger that shares a case with another: merges everything on `versions` without a group, in chunks, as one does
that was taken for dead and was not. Waits for a line on its standard input first; prints how many races it lost."""

from __future__ import annotations

import sys
from pathlib import Path

from engines.log import Batch
from engines.topics import VERSIONS
from merge.merger import Merger
from merge.tape import partitions_of, records
from tests.engine import open_home

CHUNK = 100


def main(home: Path, backwards: bool) -> None:
    with open_home(home) as engine:
        merger = Merger(engine.log, engine.store)
        ends = engine.log.end_offsets(VERSIONS)
        batches = []
        for at in partitions_of(engine.log, VERSIONS, None):
            found = list(records(engine.log, at, ends[at.partition]))
            for start in range(0, len(found), CHUNK):
                chunk = found[start : start + CHUNK]
                batches.append(Batch(at, chunk, chunk[-1].offset + 1))
        print("ready", flush=True)  # noqa: T201 - this is how the test hears of it
        sys.stdin.readline()
        for batch in reversed(batches) if backwards else batches:
            merger.handle([batch])
        print(merger.stats.lost_races)  # noqa: T201 - as above


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "backwards")
