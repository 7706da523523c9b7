"""I10 live: event time decides, whatever happens in between."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engines.log import NewRecord, TopicPartition
from engines.topics import OBSERVATIONS
from schemas.scales import DAY, HOUR, MINUTE, SECOND
from tests.factories import START, observation
from tests.faults.detection.detectors import Each, Limits, Threshold, Tumbling, thresholds
from tests.faults.detection.rig import Rig
from tests.faults.detection.traffic import closer, regular


def test_a_late_event_within_the_lateness_is_counted_once(tmp_path: Path) -> None:
    """First table, row 6: A at 10:00:00, then B at 09:59:58."""
    rig = Rig(tmp_path)
    rig.append([observation(at=START + 2 * SECOND, data={"n": 1}), observation(at=START, data={"n": 2}), closer(9)])
    rig.host(Threshold(Limits(threshold=2))).read().save()
    counts = {one.numbers["count"] for one in rig.said()}
    assert counts == {2}
    assert rig.counts().late == 0
    assert rig.counts().new == 3


def test_a_restart_between_events_counts_none_twice(tmp_path: Path) -> None:
    """First table, row 7: five events, killed after the third was snapshot and the fourth was not; threshold 6."""
    rig = Rig(tmp_path)
    events = regular(5, every=60)
    first = rig.host(Threshold())
    rig.append(events[:3])
    first.read().save()
    rig.append(events[3:4])
    first.read().die()
    second = rig.host(Threshold())
    rig.append([*events[4:], closer(9)])
    second.read().save()
    assert rig.said() == []
    assert rig.counts().new == 6


@pytest.mark.parametrize("saved", [0, 1, 2, 3, 4, 5, 6])
def test_events_on_both_sides_of_a_kill_make_one_finding(tmp_path: Path, saved: int) -> None:
    """First table, row 8: three events, kill, three events, threshold 6; the snapshot wherever it happened to be."""
    rig = Rig(tmp_path)
    events = regular(6, every=60)
    first = rig.host(Threshold())
    rig.append(events[:3])
    for _ in range(3):
        if first.step(1) and rig.engine.log.end_offsets("observations") and saved:
            saved -= 1
            first.save()
    first.die()
    second = rig.host(Threshold())
    rig.append([*events[3:], closer(9)])
    second.read(1).save()
    assert {one.fingerprint for one in rig.said()} == {f"k {START + hours * HOUR}" for hours in (1,)}
    assert {one.numbers["count"] for one in rig.said()} == {6}


def test_a_crash_in_a_batch_says_everything_once(tmp_path: Path) -> None:
    """First table, row 11: ten records, killed after seven were looked at and published."""
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(10))
    first = rig.host(Each())
    assert first.step(7) == 7
    first.die()
    rig.host(Each()).read().save()
    by_fingerprint: dict[str, set[str]] = {}
    for one in rig.said():
        by_fingerprint.setdefault(one.fingerprint, set()).add(one.id)
    assert len(by_fingerprint) == 10
    assert all(len(ids) == 1 for ids in by_fingerprint.values())
    assert rig.counts().new == rig.counts().consumed == 10


def test_what_has_no_usable_time_is_kept_and_counted_but_never_windowed(tmp_path: Path) -> None:
    """First table, row 13."""
    rig = Rig(tmp_path)
    untimed = [
        observation(n, at=None, data={"n": n}).model_copy(update={"at": None, "id": "", "flags": ("no_time",)}).proven()
        for n in range(6)
    ]
    past = [observation(at=20 * DAY + n, data={"n": n}) for n in range(6)]
    ahead = [observation(at=rig.clock.micros() + DAY + SECOND + n, data={"n": n}) for n in range(6)]
    rig.append([*untimed, *past, *ahead, *regular(2), closer(9)])
    rig.host(Threshold(), Each()).read().save()
    counts = rig.counts()
    assert (counts.new, counts.untimed, counts.late) == (21, 18, 0)
    assert {one.detector for one in rig.said()} == {"each"}
    assert {one.id for one in [*untimed, *past, *ahead]} <= rig.kept()


def test_hits_do_not_depend_on_which_others_are_loaded(tmp_path: Path) -> None:
    """First table, row 14."""
    events = [*regular(40), closer(30)]
    said = {}
    for name, others in {"alone": [], "among others": [Each(), Tumbling(Limits(threshold=2))]}.items():
        rig = Rig(tmp_path / name)
        rig.append(events)
        rig.host(*others, Threshold()).read().save()
        said[name] = {one.id for one in rig.said() if one.detector == "threshold"}
    assert said["alone"] == said["among others"] != set()


def test_a_finding_carries_event_time(tmp_path: Path) -> None:
    """First table, row 25: old data, read much later."""
    rig = Rig(tmp_path)
    rig.clock.seconds += 300 * 86_400
    events = regular(6, every=60)
    rig.append([*events, closer(9)])
    rig.host(Threshold(), Each()).read().save()
    assert {one.at for one in rig.said() if one.detector == "threshold"} == {events[-1].at}
    assert {one.at for one in rig.said() if one.detector == "each"} >= {one.at for one in events}


def test_a_later_record_changes_no_closed_window(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    live = rig.host(Threshold())
    rig.append([*regular(6, every=60), closer(2)])
    live.read().save()
    before = {one.id for one in rig.said()}
    rig.append([observation(50, at=START + 59 * MINUTE, data={"n": 50})])
    live.read()
    rig.append([closer(3)])
    live.read().save()
    closed = [one for one in rig.said() if one.fingerprint == f"k {START + HOUR}"]
    assert {one.id for one in closed} <= before
    assert len({one.id for one in closed}) == 1
    assert rig.counts().late == 1


def test_exactly_as_late_as_may_be_is_not_late(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.append([observation(n, at=START + n * SECOND) for n in (7_200, 3_600, 3_599)])
    rig.host(Threshold()).read().save()
    assert rig.counts().late == 1


def test_the_sample_comes_into_the_case_as_far_as_it_is_kept(tmp_path: Path) -> None:
    """What retention has deleted stays an id."""
    rig = Rig(tmp_path, partitions=1)
    events = regular(6, every=60)
    rig.append(events)
    host = rig.host(Threshold(), bounded=True).read()
    rig.engine.log.trim(TopicPartition(OBSERVATIONS, 0), 2)
    host.drain()
    (found,) = rig.said()
    assert set(found.evidence.sample) == {one.id for one in events}
    assert rig.kept() == {one.id for one in events[2:]}


def test_jitter_within_the_lateness_changes_nothing(tmp_path: Path) -> None:
    events = [one for n in range(4) for one in regular(60, subject=f"host:10.0.0.{n}", every=400)]
    ends = [closer(48, f"host:10.0.0.{n}") for n in range(4)]
    ordered = sorted(events, key=lambda one: one.at or 0)
    results = []
    for seed in range(4):
        rig = Rig(tmp_path / str(seed))
        chance = random.Random(seed)
        jittered = ordered if seed == 0 else sorted(events, key=lambda one: (one.at or 0) + chance.randrange(HOUR))
        rig.append([*jittered, *ends])
        rig.host(*thresholds()).read(50).save()
        results.append({one.id for one in rig.said()})
        assert rig.counts().late == 0
    assert len(results[0]) > 100
    assert all(one == results[0] for one in results)


@pytest.mark.parametrize("limit", [1, 7])
def test_batches_change_nothing(tmp_path: Path, limit: int) -> None:
    results = []
    for size in (limit, 2_000):
        rig = Rig(tmp_path / str(size))
        rig.append([*regular(60), *regular(60, subject="host:10.0.0.6", every=300), closer(48)])
        rig.host(*thresholds()).read(size).save()
        results.append((rig.current(), {one.id for one in rig.said()}, rig.counts()))
    assert results[0] == results[1]


def test_subjects_of_one_partition_do_not_influence_each_other(tmp_path: Path) -> None:
    mine = [*regular(40), closer(30)]
    others = [*regular(90, subject="host:10.0.0.9", every=1800), closer(60, "host:10.0.0.9")]
    alone, together = Rig(tmp_path / "alone", partitions=1), Rig(tmp_path / "together", partitions=1)
    alone.append(mine)
    # the other subject is two days ahead before mine begins
    together.append([*others, *mine])
    for rig in (alone, together):
        rig.host(*thresholds()).read().save()
    case = mine[0].case
    assert alone.current()[case] == together.current()[case]
    assert together.counts().late == 0


def test_live_and_bounded_say_the_same_where_nothing_is_late(tmp_path: Path) -> None:
    events = [*regular(60), *regular(60, subject="host:10.0.0.6", every=300)]
    ends = [closer(48), closer(48, "host:10.0.0.6")]
    live, bounded = Rig(tmp_path / "live"), Rig(tmp_path / "bounded")
    for rig in (live, bounded):
        rig.append([*events, *ends])
    live.host(*thresholds()).read().save()
    bounded.host(*thresholds(), bounded=True).read().drain()
    quiet = {"closer"}
    assert _without(live, quiet) == _without(bounded, quiet) != {}


def _without(rig: Rig, keys: set[str]) -> dict[tuple[str, str, str], str]:
    """The ids of all current analyses but those of the events that close the rest."""
    return {
        (case, *key): one.id
        for case, found in rig.current().items()
        for key, one in found.items()
        if not any(one.fingerprint.startswith(name) for name in keys)
    }


def test_a_burst_loses_nothing(tmp_path: Path) -> None:
    """First table, row 22: received = processed + quarantined."""
    rig = Rig(tmp_path, partitions=4)
    good = [one for n in range(20) for one in regular(100, subject=f"host:10.0.1.{n}")]
    rig.append(good)
    bad = [NewRecord(good[n].case, b'{"schema":1,"n":%d}' % n) for n in range(300)]
    rig.engine.log.append(OBSERVATIONS, bad)
    rig.append(good[:500])
    rig.host(*thresholds()).read(97).save()
    counts = rig.counts()
    assert counts.consumed == 2_800 == counts.new + counts.duplicate + counts.quarantined
    assert (counts.new, counts.duplicate, counts.quarantined) == (2_000, 500, 300)
    assert len(rig.quarantined()) == 300
