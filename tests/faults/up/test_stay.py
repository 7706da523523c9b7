"""`up` under a feed, with processes killed all the time: nothing is lost, nothing is counted twice, and nothing grows
without bound."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.acceptance.command import casetape
from tests.faults.up.stay import Plan, Stay, counts, quarantined_lines, stay

MIB = 1024 * 1024
KEPT_MIB = 8
SETTINGS = {"CASETAPE_SESSION": "3", "CASETAPE_WINDOW_MIB": "16"}


def holds(found: Stay) -> None:
    """Everything that was written is there once (I7), and every case's line verifies (I2, I5)."""
    total = counts(found.home)
    assert total.new == found.written, (total, found)
    assert total.consumed == total.new + total.duplicate + total.quarantined
    assert total.quarantined == total.late == total.faults == 0
    assert len(quarantined_lines(found.home)) == found.bad
    verified = casetape(found.home, "cases", "verify", "--json")
    assert verified.code == 0, verified.out + verified.err
    rows = casetape(found.home, "cases", "list", "--json").json
    assert "default/host:10.0.0.7" in {row["key"] for row in rows}, "the tunnel was never said"


def test_a_minute_with_a_kill_every_few_seconds(tmp_path: Path) -> None:
    found = stay(tmp_path, Plan(seconds=45, rate=50, kill_seconds=6, rotate_seconds=10, settings=SETTINGS))
    assert len(found.kills) >= 5
    holds(found)


@pytest.mark.campaign
def test_an_hour_with_a_kill_a_minute(tmp_path: Path) -> None:
    """Memory and handles level, disk within retention."""
    minutes = float(os.environ.get("UP_MINUTES", "60"))
    kept = KEPT_MIB * minutes / 60
    settings = SETTINGS | {"CASETAPE_RETENTION_MIB": json.dumps({"observations": kept})}
    found = stay(tmp_path, Plan(minutes * 60, rate=75, kill_seconds=60, rotate_seconds=97, settings=settings))
    print(json.dumps(figures(found), indent=2))  # noqa: T201 - the campaign's figures
    holds(found)
    measures = found.measures
    home = casetape(found.home, "home", "--json").json
    (observations,) = (one for one in home["topics"] if one["topic"] == "observations")
    assert observations["bytes"] <= (kept + 1) * MIB
    assert observations["records"] < found.written, "nothing was ever trimmed"
    for kind, mib in measures.memory(2).items():
        assert mib < 1.3 * measures.memory(1)[kind] + 10, (kind, measures.memory(1), measures.memory(2))
    for kind, handles in measures.handles(2).items():
        assert handles <= measures.handles(1)[kind] + 8, (kind, measures.handles(1), measures.handles(2))


def figures(found: Stay) -> dict[str, object]:
    """What the campaign measured."""
    measures = found.measures
    return {
        "written": found.written,
        "bad": found.bad,
        "kills": {kind: found.kills.count(kind) for kind in sorted(set(found.kills))},
        "counts": {name: getattr(counts(found.home), name) for name in ("consumed", "new", "duplicate", "late")},
        "memory_mib_by_third": [measures.memory(third) for third in range(3)],
        "handles_by_third": [measures.handles(third) for third in range(3)],
        "disk_mib_by_third": [round(measures.disk(third) / MIB, 1) for third in range(3)],
        "home": casetape(found.home, "home", "--json").json,
    }
