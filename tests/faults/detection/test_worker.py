"""A worker among others, and with what people run on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.scales import HOUR, SECOND
from tests.factories import START, observation
from tests.faults.detection.detectors import Each, Threshold
from tests.faults.detection.rig import Rig
from tests.faults.detection.traffic import closer, regular
from workers.detection.plugin import Finding
from workers.detection.windowed import Rows, Span
from workers.detectors.beaconing import Beaconing


def test_the_names_of_one_cdn_are_one_finding(tmp_path: Path) -> None:
    """First table, row 23: five names on one address, the same client."""
    ends = {"id.orig_h": "10.0.0.5", "id.resp_h": "203.0.113.9", "id.resp_p": 443}
    names = [f"cdn{n}.example.org" for n in range(5)]
    calls = [
        observation(
            at=START + n * 60 * SECOND,
            data=ends | {"uid": f"C{n}", "proto": "tcp", "conn_state": "SF", "orig_bytes": 500, "resp_bytes": 900},
        )
        for n in range(1_400)
    ]
    named = [
        observation(kind="zeek.ssl", at=START + n * 60 * SECOND, data=ends | {"uid": f"C{n}", "server_name": name})
        for n, name in enumerate(names * 20)
    ]
    rig = Rig(tmp_path)
    rig.append([*calls, *named])
    rig.host(Beaconing(), bounded=True).read().drain()
    (current,) = rig.current().values()
    (found,) = current.values()
    assert found.fingerprint == "beacon 10.0.0.5 -> 203.0.113.9:443"
    assert found.numbers["names"] == 5
    assert all(name in found.text for name in names)


def test_a_clock_that_runs_ahead_by_less_than_a_day_costs_its_own_case_only(tmp_path: Path) -> None:
    """It moves that case's clock, as I10 says: what comes after it is late, and counted so."""
    rig = Rig(tmp_path, partitions=1)
    host = rig.host(Threshold())
    rig.clock.seconds = START / SECOND + 3_600
    ahead = observation(99, at=rig.clock.micros() + 23 * HOUR, data={"n": 0, "key": "ahead"})
    rig.append([ahead, *regular(6, every=60), *regular(6, every=60, subject="host:10.0.0.6")])
    rig.append([closer(9, "host:10.0.0.6")])
    host.read().save()
    assert {one.subject for one in rig.said()} == {"host:10.0.0.6"}
    assert rig.counts().late == 6


def test_slow_conclusions_do_not_cost_the_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams, row 8: a drain that takes longer than the session, while another member waits to take over."""
    monkeypatch.setattr("workers.detection.worker._BEAT_SECONDS", 0.0)
    rig = Rig(tmp_path, partitions=1)

    class Slow(Threshold):
        def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
            """Takes twenty of the session's thirty seconds."""
            rig.clock.seconds += 20
            rival.step()
            return super().conclude(key, rows, span)

    events = [observation(n, at=START + n * SECOND, data={"n": n, "key": f"{n % 5}"}) for n in range(50)]
    rig.append(events)
    host = rig.host(Slow(), bounded=True).read()
    rival = rig.host(Slow(), bounded=True)
    host.drain().save()
    assert rival.worker.owned == {}
    assert len(rig.said()) == 5
    assert rig.counts().new == 50


def test_many_detectors_have_a_name_together(tmp_path: Path) -> None:
    many = [type(f"D{n}", (Each,), {"name": f"detector-{n:03}"})() for n in range(100)]
    rig = Rig(tmp_path)
    rig.append(regular(1))
    rig.host(*many).read()
    (version,) = rig.versions()
    assert version.header.author.name.startswith("detector-000,detector-001,")
    assert version.header.author.name.endswith("and 82 more")
    assert len(version.header.author.name) <= 256
