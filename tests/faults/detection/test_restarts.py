"""Snapshots and restarts: wherever a worker stops, the same is said, and the counts are exact."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.log import NewRecord, TopicPartition
from engines.topics import OBSERVATIONS
from schemas.scales import HOUR, SECOND
from tests.factories import START, observation
from tests.faults.detection.detectors import Each, Limits, Threshold, Tumbling, thresholds
from tests.faults.detection.rig import Current, Rig
from tests.faults.detection.traffic import SUBJECT, closer, mixed, regular
from workers.detection.partition import HORIZON, Counts

AT = TopicPartition(OBSERVATIONS, 0)


def undisturbed(home: Path, **options: object) -> tuple[Current, Counts]:
    rig = Rig(home)
    rig.append(mixed())
    host = rig.host(*thresholds(), **options).read()
    if options.get("bounded"):
        host.drain()
    host.save()
    return rig.current(), rig.counts()


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("save_every", [1, 4])
@pytest.mark.parametrize("die_every", [1, 2, 3, 5])
def test_kills_anywhere_change_nothing(tmp_path: Path, bounded: bool, save_every: int, die_every: int) -> None:
    """The worker is dropped without a word every few records, and snapshots lie at other places than the kills."""
    rig = Rig(tmp_path / "disturbed")
    rig.append(mixed())
    steps, host = 0, rig.host(*thresholds(), bounded=bounded)
    # each life gets a record further than the last, or nothing would ever be saved
    while host.step(2):
        steps += 1
        if steps % save_every == 0:
            host.save()
        if steps % die_every == 0:
            host.die()
            host = rig.host(*thresholds(), bounded=bounded)
            host.step(1)
            host.save()
    if bounded:
        host.drain()
    host.save()
    current, counts = undisturbed(tmp_path / "undisturbed", bounded=bounded)
    assert rig.current() == current != {}
    assert rig.counts() == counts
    assert counts.consumed == len(mixed()) == counts.new + counts.duplicate
    assert counts.duplicate == 4


@pytest.mark.parametrize("bounded", [False, True])
def test_spilled_windows_say_the_same(tmp_path: Path, bounded: bool) -> None:
    rig = Rig(tmp_path / "spilled")
    rig.append(mixed())
    host = rig.host(*thresholds(), bounded=bounded, window_bytes=1).read(3)
    assert not any(state.resident for owned in host.worker.owned.values() for state in owned.windows)
    host.die()
    host = rig.host(*thresholds(), bounded=bounded, window_bytes=1).read(3)
    if bounded:
        host.drain()
    host.save()
    assert (rig.current(), rig.counts()) == undisturbed(tmp_path / "resident", bounded=bounded)


def test_a_second_bounded_run_supersedes_what_it_adds_to_and_repeats_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append([*regular(6, every=60), *regular(6, every=60, subject="host:10.0.0.6")])
    rig.host(Tumbling(Limits(threshold=3)), bounded=True).read().drain().leave()
    before = rig.said()
    assert {one.evidence.total for one in before} == {6}
    rig.append([observation(n, at=START + n * 60 * SECOND, data={"n": n}) for n in range(6, 9)])
    rig.host(Tumbling(Limits(threshold=3)), bounded=True).read().drain().leave()
    (added,) = [one for one in rig.said() if one not in before]
    assert len(rig.said()) == len(before) + 1
    assert (added.subject, added.evidence.total) == (SUBJECT, 9)
    assert [one.evidence.total for one in rig.current()[f"default/{SUBJECT}"].values()] == [9]


def test_windows_without_anything_new_are_not_said_again(tmp_path: Path) -> None:
    """A new record of the first hour says nothing new of the hours that it is no part of."""
    rig = Rig(tmp_path)
    rig.append(regular(48, every=600))
    rig.host(Threshold(), bounded=True).read().drain().leave()
    before = {one.id for one in rig.said()}
    rig.append([observation(99, at=START + 5 * SECOND, data={"n": 99})])
    rig.host(Threshold(), bounded=True).read().drain().leave()
    ends = {one.fingerprint for one in rig.said() if one.id not in before}
    assert ends == {f"k {START + hours * HOUR}" for hours in range(1, 5)}
    assert len(rig.said()) == len(before) + 4


def test_a_changed_detector_starts_afresh_and_the_others_keep_their_windows(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(4, every=60))
    rig.host(Threshold(), Tumbling()).read().leave()
    rig.append([*regular(2, every=60, start=4), closer(9)])
    rig.host(Threshold(Limits(threshold=5)), Tumbling()).read().leave()
    assert {(one.detector, one.numbers["count"]) for one in rig.said()} == {("tumbling", 6)}


def test_a_detector_that_is_added_later_does_not_disturb_the_others(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append(regular(4, every=60))
    rig.host(Threshold()).read().leave()
    rig.append([*regular(2, every=60, start=4), closer(9)])
    rig.host(Tumbling(Limits(threshold=1)), Threshold()).read().leave()
    said = {(one.detector, one.numbers["count"]) for one in rig.said() if "closer" not in one.fingerprint}
    assert said == {("threshold", 6), ("tumbling", 2)}


def test_what_lies_below_what_a_drain_pruned_is_the_same_after_a_restart(tmp_path: Path) -> None:
    """A record so old that its window's other rows are gone: they do not come back from the store."""
    results = []
    for restarted in (False, True):
        rig = Rig(tmp_path / str(restarted))
        host = rig.host(Threshold(Limits(threshold=1)), bounded=True)
        rig.append([*regular(6, every=60), closer(100)])
        host.read().drain()
        if restarted:
            host.die()
            host = rig.host(Threshold(Limits(threshold=1)), bounded=True)
        rig.append([observation(50, at=START + 10 * 60 * SECOND, data={"n": 50})])
        host.read().drain()
        results.append({one.id for one in rig.said()})
    assert results[0] == results[1]


def test_duplicates_are_known_for_the_whole_horizon_by_the_logs_time(tmp_path: Path) -> None:
    """However old they are: nothing is forgotten because newer events came, only because time went by."""
    rig = Rig(tmp_path, partitions=1)
    old, new = regular(3), [observation(n, at=START + n * 30 * 24 * HOUR // 4) for n in range(100, 103)]
    host = rig.host(Each(), bounded=True)
    for events in (new, old):
        rig.append(events)
        host.read().drain()
    rig.append(old)
    host.read().drain()
    assert rig.counts().duplicate == 3
    rig.clock.seconds += HORIZON / 1e6 + 1
    host.consumer.heartbeat()
    rig.append([closer(9)])
    host.read().drain()
    rig.append(new)
    host.read().drain()
    assert rig.counts().duplicate == 3
    assert rig.counts().new == 10


def test_what_is_delivered_again_is_not_looked_at_again(tmp_path: Path) -> None:
    """A log that reads on below the snapshot."""
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(6))
    host = rig.host(*thresholds()).read()
    host.consumer.seek(AT, 1)
    assert host.step() == 5
    host.save()
    assert rig.counts().consumed == rig.counts().new == 6


def test_what_retention_deleted_before_it_was_read_is_not_waited_for(tmp_path: Path) -> None:
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(6, every=60))
    rig.host(Each(), bounded=True).read(2).leave()
    rig.append(regular(6, every=60, start=6))
    rig.engine.log.trim(AT, 12)
    host = rig.host(Each(), bounded=True).read().drain()
    (owned,) = host.worker.owned.values()
    assert owned.concluded == 12


def test_a_record_that_cannot_be_read_stops_nobody(tmp_path: Path) -> None:
    """Second table, row 9: it names topic, partition and offset."""
    rig = Rig(tmp_path, partitions=1)
    good = regular(2)
    lines = [b'{"schema":2}', b"{}", b'{"schema":"1"}', b"\xff", b"[" * 100_000]
    rig.engine.log.append(OBSERVATIONS, [NewRecord(good[0].case, line) for line in lines])
    rig.append(good)
    rig.host(Each()).read().save()
    assert {one.fingerprint for one in rig.said()} == {"each 0", "each 1"}
    places = {(one.source.topic, one.source.partition, one.source.offset): one.code for one in rig.quarantined()}
    assert {place[2]: code for place, code in places.items()} == {
        0: "unknown_type",
        1: "unknown_type",
        2: "unknown_type",
        3: "record_invalid",
        4: "record_invalid",
    }
    assert {place[:2] for place in places} == {(OBSERVATIONS, 0)}
