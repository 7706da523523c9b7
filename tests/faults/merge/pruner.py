"""A pruner in a process of its own: `once` prunes until nothing is left to go; `beside` goes on until its standard
input ends, and prints how many versions went."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from engines.engine import Engine
from engines.sqlite import open_engine
from merge.pruning import prune


def all_of(engine: Engine, keep: int) -> int:
    """Prunes every case as far as it goes; how many versions went."""
    total = 0
    for row in engine.store.cases(None):
        while (done := prune(engine.store, engine.log, row.key, keep)).versions:
            total += done.versions
        assert done.refused is None, done.refused
    return total


def main(home: Path, how: str, keep: int) -> None:
    with open_engine(home) as engine:
        if how == "once":
            all_of(engine, keep)
            return
        until = threading.Thread(target=sys.stdin.read, daemon=True)
        until.start()
        total = 0
        while until.is_alive():
            total += all_of(engine, keep)
        print(total + all_of(engine, keep))  # noqa: T201 - this is how the test hears of it


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
