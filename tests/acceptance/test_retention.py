"""What is kept, and for how long (field reports, second table, rows 8, 13 and 20)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from engines.log import TopicPartition
from engines.sqlite import FILE, open_engine
from engines.topics import OBSERVATIONS
from tests.acceptance.command import DAY1, casetape, picture, run
from tests.acceptance.logs import write

ROUNDS = 12
LINE = (
    '{{"_path":"conn","ts":{ts},"uid":"C{uid}","id.orig_h":"10.0.0.{host}","id.orig_p":5,"id.resp_h":"192.0.2.{n}",'
    '"id.resp_p":443,"proto":"tcp","conn_state":"SF","history":"{uid}"}}\n'
)


def _log(path: Path, round_: int) -> Path:
    """A day of connections, another one each round."""
    start = 1_588_300_000 + 86_400 * round_
    rows = (
        LINE.format(ts=start + n, uid=f"{round_}x{n * 7919}", host=n % 200, n=n % 250).encode() for n in range(4_000)
    )
    return write(path, rows)


def _kept(home: Path) -> int:
    with open_engine(home) as engine:
        starts, ends = engine.log.start_offsets(OBSERVATIONS), engine.log.end_offsets(OBSERVATIONS)
        first = [engine.log.read(TopicPartition(OBSERVATIONS, p), 0, 1) for p in starts if ends[p] > starts[p]]
        assert all(found[0].offset in starts.values() for found in first)
        return sum(ends[p] - starts[p] for p in ends)


def _sizes(tmp_path: Path, env: dict[str, str]) -> list[int]:
    home = tmp_path / "home"
    tmp_path.mkdir()
    sizes = []
    for round_ in range(ROUNDS):
        log = _log(tmp_path / "conn.log", round_)
        report: dict[str, Any] = casetape(home, "run", "--json", log, env=env).json
        assert report["recorded"] == 4_000
        sizes.append(_used(home))
    return sizes


def _used(home: Path) -> int:
    """Bytes of the file that hold something: what was freed is used again before the file grows."""
    with closing(sqlite3.connect(home / FILE)) as file:
        pages, free, size = (
            file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def test_with_retention_the_home_stops_growing(tmp_path: Path) -> None:
    kept = _sizes(tmp_path / "kept", {"CASETAPE_RETENTION": '{"observations": null}'})
    trimmed = _sizes(tmp_path / "trimmed", {"CASETAPE_RETENTION": '{"observations": 1e-9}'})
    assert _kept(tmp_path / "kept" / "home") == ROUNDS * 4_000
    assert _kept(tmp_path / "trimmed" / "home") == 0
    assert trimmed[-1] - trimmed[5] < (kept[-1] - kept[5]) / 2, "ids of seven days and rows of two windows remain"


def test_what_is_kept_by_default_and_cases_outlive_it(tmp_path: Path) -> None:
    run(tmp_path, DAY1)
    before = picture(tmp_path)
    assert _kept(tmp_path) == 2_140, "observations are kept for 7 days"
    assert casetape(tmp_path, "run", env={"CASETAPE_RETENTION": '{"observations": 1e-9}'}).code == 0
    assert _kept(tmp_path) == 0
    assert picture(tmp_path) == before
    assert casetape(tmp_path, "cases", "verify", "--json").json["faults"] == []
    again = run(tmp_path, DAY1)
    assert (again["recorded"], again["versions"]) == (0, 0), "the ledger outlives the records"
