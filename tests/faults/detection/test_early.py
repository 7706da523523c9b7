"""Early words by counts: decided by the event times and counts of the case's own records, and by nothing else (I10)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engines.failpoints import VARIABLE
from engines.log import NewRecord, TopicPartition
from engines.topics import OBSERVATIONS, VERSIONS
from schemas.analysis import Analysis, evidence_of
from schemas.scales import DAY, HOUR, MINUTE, SECOND
from schemas.version import StateVersion
from tests.factories import START, observation
from tests.faults.detection.detectors import Each, Early, Limits, Threshold, thresholds
from tests.faults.detection.early import FEW, by_evidence, early, host, ids, traffic
from tests.faults.detection.pipeline import WORKER, Pipeline
from tests.faults.detection.rig import Hosted, Rig
from tests.faults.detection.traffic import SUBJECT, closer, regular
from workers.detection import partition
from workers.detection.partition import HORIZON
from workers.detection.windowed import Window

CASE = f"default/{SUBJECT}"


class First(Early):
    """Speaks of the first row, and again of all of them when five minutes are over."""

    name = "first"
    window = Window(5 * MINUTE, 5 * MINUTE)
    early = (1,)


def undisturbed(home: Path) -> set[str]:
    rig = Rig(home)
    rig.append(traffic())
    rig.host(Early(FEW)).read().save()
    said = rig.said()
    assert sum(one.provisional for one in said) > 30
    assert len({one.id for one in said}) == len(said)
    return ids(rig)


def test_the_first_at_once_and_the_others_together(tmp_path: Path) -> None:
    """First table, row 10: one hit and nine more within five minutes."""
    rig = Rig(tmp_path)
    live = rig.host(First(Limits(threshold=1)))
    events = regular(10, every=20)
    rig.append(events[:1])
    live.read()
    assert early(rig) == [("k", 1)]
    rig.append(events[1:])
    live.read()
    rig.append([closer(9)])
    live.read()
    found = [one for one in rig.said() if one.fingerprint == "k"]
    assert [(one.provisional, one.evidence.total) for one in found] == [(True, 1), (False, 10)]
    assert rig.current()[CASE][found[0].key] == found[1]


def test_the_evidence_is_exactly_what_it_rests_on(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    events = regular(15, every=60)
    rig.append(events)
    rig.host(Early(FEW)).read()
    said = by_evidence(rig)
    assert [one.evidence.total for one in said] == [2, 5, 12]
    for one in said:
        rest = events[: one.evidence.total]
        assert one.evidence == evidence_of([(each.id, each.at) for each in rest])
        assert (one.provisional, one.at) == (True, rest[-1].at)
        assert set(one.evidence.sample) <= rig.kept()


def test_only_the_newest_part_of_a_window_is_counted_and_all_of_it_is_seen(tmp_path: Path) -> None:
    """Three hours of rows lie before the part in which two more come."""
    rig = Rig(tmp_path)
    events = regular(5, every=2_400)
    rig.append([*events, *(observation(n, at=START + 3 * HOUR + n * SECOND, data={"n": n}) for n in (50, 51))])
    rig.host(Early(FEW)).read()
    assert early(rig) == [("k", 2), ("k", 5), ("k", 7)]


@pytest.mark.parametrize("limit", [1, 7, 2_000])
@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_neither_batches_nor_partitions_nor_other_cases_matter(tmp_path: Path, limit: int, partitions: int) -> None:
    rig = Rig(tmp_path / "rig", partitions)
    rig.append(traffic())
    rig.host(*thresholds(), Early(FEW)).read(limit).save()
    said = {one.id for one in rig.said() if one.detector == "early"}
    assert said == undisturbed(tmp_path / "undisturbed")
    alone = Rig(tmp_path / "alone")
    alone.append([one for one in traffic() if one.subject == host(1)])
    alone.host(Early(FEW)).read()
    assert ids(alone) == {one.id for one in rig.said() if one.detector == "early" and one.subject == host(1)}


@pytest.mark.parametrize("save_every", [1, 4])
@pytest.mark.parametrize("die_every", [1, 3, 5])
@pytest.mark.parametrize("window_bytes", [1, 2**28])
def test_kills_anywhere_change_nothing(tmp_path: Path, save_every: int, die_every: int, window_bytes: int) -> None:
    """Also where rows are spilled and counts are made anew from the store, and duplicates come in between."""
    rig = Rig(tmp_path / "disturbed")
    events = traffic()
    rig.append([*events[:70], *events[:20], *events[70:-4], *events[40:60], *events[-4:]])
    steps, live = 0, rig.host(Early(FEW), window_bytes=window_bytes)
    while live.step(4):
        steps += 1
        if steps % save_every == 0:
            live.save()
        if steps % die_every == 0:
            live.die()
            live = rig.host(Early(FEW), window_bytes=window_bytes)
            live.step(1)
            live.save()
    live.save()
    assert ids(rig) == undisturbed(tmp_path / "undisturbed")
    assert rig.counts().duplicate == 40


@pytest.mark.parametrize(
    ("point", "passes"),
    [
        ("worker.assigned", 2),
        *((point, passes) for point in ("worker.looked", "worker.published") for passes in (1, 3)),
        *((point, passes) for point in ("worker.parts", "worker.snapshot") for passes in (1, 4)),
        ("host.committed", 2),
    ],
)
def test_a_kill_at_any_fail_point_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, passes: int
) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}:{passes}")
    events = [one for n in range(12) for one in regular(60, subject=host(n), every=200 + n)]
    ordered = [
        *sorted(events, key=lambda one: (one.at or 0, one.subject)),
        *(closer(48, host(n)) for n in range(12)),
    ]
    rig = Rig(tmp_path / "rig", partitions=4)
    rig.append(ordered)
    rig.host(Early(Limits(threshold=3)), Threshold(Limits(threshold=3))).read().save()

    pipeline = Pipeline(tmp_path / "pipeline")
    for topic in (OBSERVATIONS, VERSIONS, "quarantine"):
        pipeline.engine.log.create_topic(topic, 4)
    pipeline.engine.log.append(OBSERVATIONS, [NewRecord(one.case, one.encode()) for one in ordered])
    pipeline.supervisor.start("worker", WORKER, pipeline.options(live=True))
    expected = ids(rig)
    pipeline.until(lambda: expected <= {one.id for one in analyses(pipeline)})
    pipeline.supervisor.stop()
    said = {one.id: one for one in analyses(pipeline)}
    assert said.keys() == expected
    assert sum(one.provisional for one in said.values()) > 100
    assert any(told.startswith("worker stopped (exit code -9)") for told in pipeline.told)


def analyses(pipeline: Pipeline) -> list[Analysis]:
    log = pipeline.engine.log
    values = [
        record.value
        for number in range(log.partitions(VERSIONS))
        for record in log.read(TopicPartition(VERSIONS, number), 0, 1_000_000)
    ]
    contents = [one.opened() for value in values for one in StateVersion.parse(value).contents]
    return [one for one in contents if isinstance(one, Analysis)]


def test_live_replayed_and_bounded_say_the_same(tmp_path: Path) -> None:
    """Every word, early and final, of records in order; and once more when all is replayed."""
    expected = undisturbed(tmp_path / "live")
    rig = Rig(tmp_path / "bounded")
    rig.append(traffic())
    rig.host(Early(FEW), bounded=True).read(11).drain().leave()
    assert ids(rig) == expected
    for bounded in (True, False):
        again = rig.host(Early(FEW), bounded=bounded, replay=f"replay {bounded}").read()
        if bounded:
            again.drain()
        again.leave()
        assert ids(rig) == expected


def test_a_bounded_run_says_them_in_order_of_event_time_whatever_came_first(tmp_path: Path) -> None:
    events = traffic()
    random.Random(7).shuffle(events)
    rig = Rig(tmp_path / "shuffled")
    rig.append(events)
    host = rig.host(Early(FEW), bounded=True, window_bytes=1).read(9)
    host.die()
    rig.host(Early(FEW), bounded=True, window_bytes=1).read().drain()
    assert ids(rig) == undisturbed(tmp_path / "undisturbed")


def test_duplicates_and_late_records_are_not_counted(tmp_path: Path) -> None:
    """A late record of a closed window is counted late, changes nothing, and is not kept count of."""
    rig = Rig(tmp_path)
    live = rig.host(Early(FEW))
    events = regular(4, every=60)
    rig.append([*events, *events, *events])
    live.read()
    assert early(rig) == [("k", 2)]
    rig.append([closer(3)])
    live.read()
    before = ids(rig)
    rig.append([observation(n, at=START + n * SECOND, data={"n": n}) for n in range(50, 60)])
    live.read().save()
    assert ids(rig) == before
    assert rig.counts().late == 10
    assert counted(live) == 1


def counted(live: Hosted) -> int:
    tallies = [window.tally for owned in live.worker.owned.values() for window in owned.windows]
    return sum(len(tally) for tally in tallies if tally is not None)


def test_no_count_outlives_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Second table, row 20: of a hundred hours at most the open ones are counted; of a forgotten case none are."""
    monkeypatch.setattr(partition, "SLACK", -1_000)
    rig = Rig(tmp_path, partitions=1)
    live = rig.host(Early(FEW), snapshot_seconds=0.0)
    most = 0
    for n in range(100):
        rig.append([observation(n, at=START + n * HOUR, data={"n": n, "key": f"{n}"})])
        live.read()
        most = max(most, counted(live))
    assert 0 < most <= 3
    rig.clock.seconds += HORIZON / 1e6 + 1
    live.consumer.heartbeat()
    rig.append([observation(9, subject=host(7), at=START + 11 * DAY)])
    live.read()
    rig.append([observation(8, subject=host(7), at=START + 11 * DAY)])
    live.read()
    assert set(live.worker.owned[TopicPartition(OBSERVATIONS, 0)].clocks) == {f"default/{host(7)}"}
    assert counted(live) == 1


def test_who_asks_for_none_pays_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    live = rig.host(Threshold(), Each())
    rig.append(regular(10))
    live.read()
    assert [window.tally for owned in live.worker.owned.values() for window in owned.windows] == [None, None]
    assert {one.detector for one in rig.said()} == {"each"}
