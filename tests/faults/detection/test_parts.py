"""What lies in the store: who may write it, and that it does not pile up."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.log import TopicPartition
from engines.topics import OBSERVATIONS
from schemas.errors import EngineUnavailable, Fenced
from schemas.scales import HOUR
from tests.factories import START
from tests.faults.detection.detectors import Threshold, thresholds
from tests.faults.detection.rig import Rig
from tests.faults.detection.traffic import closer, mixed, regular
from workers.detection import partition, window
from workers.detection.snapshot import body_of

AT = TopicPartition(OBSERVATIONS, 0)


def assert_only_needed(rig: Rig) -> None:
    for owner, manifest in rig.engine.store.manifests("detect/").items():
        body = body_of(manifest)
        needed = {part for one in body.windows for run in one.runs for part in run.parts()}
        needed |= {one.name for one in body.seen} | ({body.cases} if body.cases else set())
        assert set(rig.engine.store.parts(owner)) == needed


def test_a_zombie_cannot_put_its_snapshot_back(tmp_path: Path) -> None:
    """I5: an owner that wakes up after another has taken over is fenced, and what it wrote meanwhile is swept."""
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(4, every=60))
    zombie = rig.host(Threshold())
    zombie.step(2)
    zombie.die()
    rig.host(Threshold()).read().save()
    before = rig.engine.store.manifests("detect/")
    with pytest.raises(Fenced):
        zombie.worker._save(zombie.worker.owned.values())
    with pytest.raises(Fenced):
        zombie.step()
    with pytest.raises(Fenced):
        zombie.consumer.commit({AT: 4})
    assert rig.engine.store.manifests("detect/") == before
    rig.clock.seconds += 31
    third = rig.host(Threshold())
    third.read()
    third.leave()
    assert_only_needed(rig)
    rig.append([*regular(2, every=60, start=4), closer(9)])
    rig.host(Threshold()).read().save()
    assert {one.numbers["count"] for one in rig.said()} == {6}
    assert rig.counts().new == 7


def test_two_that_take_over_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one whose read of the manifest is older is fenced before it has written anything."""
    rig = Rig(tmp_path, partitions=1)
    rig.append(regular(4, every=60))
    rig.host(Threshold()).read().leave()
    store = rig.engine.store
    read = store.manifest
    (known,) = store.manifests("detect/").values()
    rig.host(Threshold()).read().leave()
    monkeypatch.setattr(store, "manifest", lambda owner: known)
    with pytest.raises(Fenced):
        rig.host(Threshold()).step()
    monkeypatch.setattr(store, "manifest", read)
    assert_only_needed(rig)


@pytest.mark.parametrize("window_bytes", [2**28, 5_000])
def test_parts_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window_bytes: int) -> None:
    """Second table, rows 13 and 20: after many snapshots the store holds what the manifests name, and few of it."""
    monkeypatch.setattr(partition, "SLACK", 100)
    monkeypatch.setattr(window, "SLACK", 100)
    rig = Rig(tmp_path, partitions=1)
    host = rig.host(Threshold(), window_bytes=window_bytes)
    most = 0
    for n in range(150):
        rig.append(regular(6, start=6 * n, every=600))
        host.read()
        host.save()
        assert_only_needed(rig)
        most = max(most, len(rig.parts()["detect/detect-test/observations/0"]))
    (owned,) = host.worker.owned.values()
    # 900 rows came in 150 hours, of which nine can be needed again
    assert owned.windows[0].rows() < 400
    assert most < 45
    assert len(rig.engine.store.notes("")) == 0
    assert rig.counts().new == 900
    said = {one.fingerprint: one.numbers["count"] for one in rig.said()}
    assert said == {f"k {START + hours * HOUR}": min(6 * hours, 24) for hours in range(1, 149)}


def test_a_failure_while_saving_leaves_the_last_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The membership is lost, or the store is, in the middle of a snapshot: what follows starts from the one before."""
    rig = Rig(tmp_path)
    rig.append(mixed())
    host = rig.host(*thresholds())
    host.read(5).save()
    rig.append([*regular(5, every=90, start=700), closer(80)])
    host.step(3)
    put, left = rig.engine.store.put_part, 2

    def fails(owner: str, part: str, body: bytes) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise EngineUnavailable
        put(owner, part, body)

    monkeypatch.setattr(rig.engine.store, "put_part", fails)
    with pytest.raises(EngineUnavailable):
        host.save()
    monkeypatch.undo()
    host.worker.lost()
    host.die()
    rig.host(*thresholds()).read().save()
    assert_only_needed(rig)
    other = Rig(tmp_path / "other")
    other.append([*mixed(), *regular(5, every=90, start=700), closer(80)])
    other.host(*thresholds()).read().save()
    assert (rig.current(), rig.counts()) == (other.current(), other.counts())
