"""Streams, row 15: a source that falls silent closes its windows by processing time, provisionally."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schemas.analysis import Analysis
from schemas.errors import EngineUnavailable
from schemas.scales import DAY, HOUR, MINUTE
from tests.factories import START, observation
from tests.faults.detection.detectors import Limits, Threshold, Tumbling
from tests.faults.detection.rig import Hosted, Rig
from tests.faults.detection.traffic import SUBJECT, closer, regular
from workers.detection import partition
from workers.detection.partition import HORIZON
from workers.detection.plugin import Finding
from workers.detection.windowed import Rows, Span


class Few(Threshold):
    """Speaks while there are few: more evidence silences it."""

    name = "few"

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """Up to six rows."""
        return Finding("suspicious", 0.5, fingerprint=key, title="few") if len(rows.at) <= 6 else None


class Changing(Threshold):
    """Says something else with every row, and gives it a time of its own."""

    name = "changing"

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """About the number of rows."""
        return Finding("suspicious", 0.5, fingerprint=f"{len(rows.at)}", title="x", at=span.end)


def quiet(rig: Rig, host: Hosted, seconds: float = 3_601) -> None:
    """Nothing comes for so long."""
    rig.clock.seconds += seconds
    host.consumer.heartbeat()
    host.idle()


def of_first_window(rig: Rig) -> list[Analysis]:
    return [one for one in rig.said() if one.fingerprint == f"k {START + HOUR}"]


def test_it_closes_provisionally_and_the_final_one_supersedes(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    host = rig.host(Threshold()).read()
    assert rig.said() == []
    quiet(rig, host)
    (early,) = of_first_window(rig)
    assert early.provisional
    host.idle().idle()
    assert len(rig.said()) == 1
    rig.append([closer(9)])
    host.read()
    early, final = of_first_window(rig)
    assert not final.provisional
    assert rig.current()[f"default/{SUBJECT}"][final.key] == final


def test_every_open_window_is_closed(tmp_path: Path) -> None:
    """Events on both sides of an hour, the first of which is not an hour over yet."""
    rig = Rig(tmp_path)
    rig.append([*regular(6, every=60), *(observation(n, at=START + HOUR + n * MINUTE) for n in range(6))])
    host = rig.host(Tumbling(Limits(threshold=3))).read()
    quiet(rig, host)
    assert {one.evidence.total for one in rig.said()} == {6}
    assert len(rig.said()) == 2


def test_a_closed_window_stays_closed(tmp_path: Path) -> None:
    """A late record in it does not bring it up again when its source falls silent."""
    rig = Rig(tmp_path)
    rig.append([*regular(6, every=60), closer(3), observation(77, at=START + 30 * MINUTE)])
    host = rig.host(Threshold()).read()
    before = [one.id for one in of_first_window(rig)]
    quiet(rig, host)
    assert [one.id for one in of_first_window(rig)] == before
    assert len(before) == 1


@pytest.mark.parametrize("killed", [False, True])
def test_what_more_evidence_silences_is_withdrawn(tmp_path: Path, killed: bool) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    host = rig.host(Few()).read()
    quiet(rig, host)
    if killed:
        host.die()
        host = rig.host(Few())
    rig.append([observation(n, at=START + n * MINUTE) for n in range(10, 14)])
    rig.append([closer(9)])
    host.read()
    current = rig.current()[f"default/{SUBJECT}"]
    (withdrawn,) = [one for one in current.values() if one.fingerprint == "k"]
    assert (withdrawn.verdict, withdrawn.score, withdrawn.provisional) == ("unknown", 0, False)
    assert withdrawn.evidence.total == 10


def test_what_is_said_otherwise_in_the_end_is_withdrawn_too(tmp_path: Path) -> None:
    """Also where the early one was given a time beyond its evidence."""
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    host = rig.host(Changing()).read()
    quiet(rig, host)
    rig.append([observation(10, at=START + 10 * MINUTE)])
    host.read()
    quiet(rig, host)
    rig.append([observation(11, at=START + 11 * MINUTE), closer(9)])
    host.read()
    current = {one.fingerprint: one.verdict for one in rig.current()[f"default/{SUBJECT}"].values()}
    assert {current[name] for name in ("6", "7")} == {"unknown"}
    assert current["8"] == "suspicious"


def test_what_was_said_early_is_known_before_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies right after saying it early, before it could save anything more."""
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    host = rig.host(Few()).read()
    append = rig.engine.log.append

    def dies(topic: str, records: object) -> None:
        append(topic, records)  # type: ignore[arg-type]  # handed through as it came
        raise EngineUnavailable

    monkeypatch.setattr(rig.engine.log, "append", dies)
    with pytest.raises(EngineUnavailable):
        quiet(rig, host)
    monkeypatch.undo()
    assert [one.provisional for one in rig.said()] == [True]
    host.die()
    rig.append([observation(n, at=START + n * MINUTE) for n in range(10, 14)])
    rig.append([closer(9)])
    rig.host(Few()).read()
    verdicts = {one.fingerprint: one.verdict for one in rig.current()[f"default/{SUBJECT}"].values()}
    assert verdicts["k"] == "unknown"


def test_a_case_that_stays_silent_is_concluded_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key grows without bound: neither rows nor clocks nor what was said early."""
    # every snapshot is worth tidying up before
    monkeypatch.setattr(partition, "SLACK", -1_000)
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(6, every=60))
    host = rig.host(Threshold(), snapshot_seconds=0.0).read()
    quiet(rig, host)
    (owned,) = host.worker.owned.values()
    assert owned.early
    rig.clock.seconds += HORIZON / 1e6
    host.consumer.heartbeat()
    at = rig.clock.micros() // HOUR * HOUR
    rig.append([observation(n, subject="host:10.0.0.7", at=at + n * MINUTE) for n in range(2)])
    rig.append([observation(n, subject="host:10.0.0.6", at=at + n * MINUTE) for n in range(3)])
    host.read()
    rig.clock.seconds += 3_600
    host.consumer.heartbeat()
    rig.append([observation(3, subject="host:10.0.0.6", at=at + 3 * MINUTE)])
    host.read()
    assert set(owned.clocks) == {"default/host:10.0.0.6", "default/host:10.0.0.7"}
    assert owned.early == {}
    assert len(owned.windows[0].table) == 6
    assert [one.provisional for one in of_first_window(rig)] == [True, False]


def test_silence_is_nobody_elses(tmp_path: Path) -> None:
    """One subject of a partition is silent, the other is not."""
    rig = Rig(tmp_path, partitions=1)
    rig.append([*regular(6, every=60), *regular(6, every=60, subject="host:10.0.0.6")])
    host = rig.host(Threshold()).read()
    rig.clock.seconds += 1_800
    rig.append([observation(9, subject="host:10.0.0.6", at=START + 10 * MINUTE)])
    host.read()
    quiet(rig, host, 1_801)
    assert {one.subject for one in rig.said()} == {SUBJECT}


def test_a_bounded_run_never_closes_early(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    host = rig.host(Threshold(), bounded=True).read()
    quiet(rig, host, DAY / 1e6)
    assert rig.said() == []
    host.drain()
    assert [one.provisional for one in rig.said()] == [False]


def test_rows_cannot_be_changed_by_who_is_shown_them(tmp_path: Path) -> None:
    class Editor(Threshold):
        name = "editor"

        def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
            np.add(rows.at, 1, out=rows.at)
            return None

    rig = Rig(tmp_path)
    rig.append(regular(6, every=60))
    rig.host(Editor(), Threshold(), bounded=True).read().drain()
    assert [one.detector for one in rig.said()] == ["threshold"]
    assert [(one.author, one.what) for one in rig.quarantined()] == [("editor", "result")]
