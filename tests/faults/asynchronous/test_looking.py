"""Asynchronous detectors on real servers: each finding once, and a bad detector costs its own results only (I7, I9)."""

from __future__ import annotations

import pytest

from casetape.lagging import positions_of, readers
from engines.log import NewRecord
from engines.topics import OBSERVATIONS
from tests.faults.asynchronous.rig import GROUP, Rig, large, records
from workers.runtime.supervisor import Supervisor

pytestmark = pytest.mark.needs_services

MIB = 1024 * 1024


def test_each_finding_comes_once_from_a_slow_detector(rig: Rig) -> None:
    rig.feed(records(0, 200))
    rig.start(seconds=0.2)
    rig.until(lambda: rig.saved() == 200)
    rig.supervisor.stop()
    assert set(rig.calls().values()) == {1}
    assert len(rig.calls()) == 200
    assert rig.fingerprints() == {f"number {n}": 1 for n in range(200)}
    assert set(rig.said().values()) == {1}
    counts = rig.counts()
    assert (counts.consumed, counts.new, counts.duplicate, counts.quarantined, counts.faults) == (200, 200, 0, 0, 0)
    assert rig.told == []


def test_a_detector_that_fails_costs_its_own_result_only(rig: Rig) -> None:
    rig.feed(records(0, 100))
    rig.start(detectors=["odd", "slow"], seconds=0.02, call=2.0)
    rig.until(lambda: rig.saved() == 100)
    rig.supervisor.stop()
    raised = set(range(3, 100, 10))
    bad = raised | {25, 47, 66, 77, 88, 99}
    wanted = {f"number {n}": 2 for n in range(100) if n not in bad} | {f"number {n}": 1 for n in bad}
    assert rig.fingerprints() == wanted
    assert set(rig.calls().values()) == {2}
    kept = rig.quarantined()
    assert len(kept) == len(bad) == rig.counts().faults
    assert {one.author for one in kept} == {"odd"}
    assert {one.what for one in kept} == {"result"}
    reasons = sorted({one.reason for one in kept})
    assert reasons == [
        "did not answer within 2 s",
        "raised ValueError in detect, line 57 of waiting.py",
        "returned str where a Finding was due",
        "was cancelled by itself",
    ]
    counts = rig.counts()
    assert (counts.consumed, counts.new, counts.duplicate, counts.quarantined) == (100, 100, 0, 0)
    assert rig.told == []


def test_a_detector_that_ends_its_process_is_not_asked_for_the_fourth_time(rig: Rig) -> None:
    rig.feed(records(0, 60))
    rig.start(detectors=["fatal"], seconds=0.02)
    rig.until(lambda: rig.saved() == 60)
    rig.supervisor.stop()
    assert rig.fingerprints() == {f"number {n}": 1 for n in range(60) if n != 30}
    (kept,) = rig.quarantined()
    assert (kept.code, kept.author) == ("plugin_fatal", "fatal")
    assert sum("stopped (exit code 1)" in told for told in rig.told) == 3


def test_a_backlog_of_large_records_is_not_held_in_memory(rig: Rig) -> None:
    """4,000 records of 50 kB, 200 MB together, and a detector that takes its time."""
    for first in range(0, 4_000, 200):
        rig.feed(large(first, first + 200))
    rig.start(seconds=1.0)
    rig.until(lambda: rig.supervisor.ready())
    before = rig.memory()
    rig.until(lambda: rig.saved() >= 40)
    assert rig.memory() - before < 130 * MIB


def test_lag_and_retention_see_the_group(rig: Rig) -> None:
    rig.feed(records(0, 20))
    rig.start()
    rig.until(lambda: rig.saved() == 20)
    rig.supervisor.stop()
    rig.feed(records(20, 30))
    assert readers(rig.engine)[OBSERVATIONS] == (GROUP,)
    found = positions_of(rig.engine, GROUP, OBSERVATIONS)
    assert (sum(one.lag for one in found), sum(one.waiting for one in found)) == (10, 10)
    assert all(one.committed == one.done for one in found)


def test_bad_records_are_quarantined_with_their_bytes_and_the_next_is_looked_at(rig: Rig) -> None:
    good = records(0, 4)
    other = NewRecord("acme/host:10.0.0.1", good[1].encode())
    rig.append([NewRecord(good[0].case, b"{not json"), other, NewRecord("", b"")])
    rig.feed(good)
    rig.feed(good)
    rig.start()
    rig.until(lambda: rig.saved() == 11)
    rig.supervisor.stop()
    kept = {one.data: one for one in rig.quarantined()}
    assert kept.keys() == {b"{not json", good[1].encode(), b""}
    assert kept[good[1].encode()].code == "tenant_mismatch"
    assert kept[good[1].encode()].tenant == "acme"
    assert all(one.what == "record" and one.source.topic == "observations" for one in kept.values())
    assert rig.fingerprints() == {f"number {n}": 1 for n in range(4)}
    assert set(rig.calls().values()) == {1}
    counts = rig.counts()
    assert (counts.consumed, counts.new, counts.duplicate, counts.quarantined, counts.faults) == (11, 4, 4, 3, 0)
    assert rig.engine.log.committed(GROUP, OBSERVATIONS) == {
        partition: end for partition, end in rig.engine.log.end_offsets(OBSERVATIONS).items() if end
    }


def test_what_is_fed_again_later_is_not_asked_again(rig: Rig) -> None:
    rig.feed(records(0, 20))
    rig.start()
    rig.until(lambda: rig.saved() == 20)
    rig.supervisor.stop()
    rig.feed(records(0, 30))
    rig.supervisor = Supervisor(rig.told.append)
    rig.start()
    rig.until(lambda: rig.saved() == 50)
    assert set(rig.calls().values()) == {1}
    assert len(rig.calls()) == 30
    assert rig.counts().duplicate == 20
