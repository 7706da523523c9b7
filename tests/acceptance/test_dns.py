"""Data in names is found by a run and by a live worker, at the same look-up, in the same words; and plain names are
not taken for it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from engines.log import NewRecord, TopicPartition
from engines.sqlite import open_engine
from engines.topics import OBSERVATIONS
from schemas.analysis import Analysis
from schemas.scales import DAY
from tests.acceptance.command import DAY1, DAY2, casetape, closes, current, run
from tests.factories import START, observation
from tests.faults.detection.rig import Rig
from tests.unit.dns.recorded import TUNNELS, replayed
from workers.detectors.dns import Dns

CLIENT = "10.7.0.9"
CASE = f"default/host:{CLIENT}"


def log(path: Path, name: str, kind: str) -> Path:
    """A `dns.log` of one client, a look-up a second."""
    lines = (
        json.dumps(
            {
                "_path": "dns",
                "ts": START // 1_000_000 + one.at,
                "uid": f"C{number}",
                "id.orig_h": CLIENT,
                "id.resp_h": "10.7.0.1",
                "id.resp_p": 53,
                "query": one.query,
                "qtype_name": one.type,
                "rcode_name": "NOERROR",
            }
        )
        for number, one in enumerate(replayed(name, kind))
    )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A home for each file of names, with its run done."""
    folder = tmp_path_factory.mktemp("dns")
    made = {}
    for name, kind in (("dns2tcp-names", "TXT"), ("train", "A"), ("plain-names", "A")):
        report = run(folder / name, "--workers", "1", log(folder / f"{name}.log", name, kind))
        assert closes(report)
        assert (report["quarantined"], report["faults"], report["late"]) == (0, 0, 0)
        assert report["recorded"] == len(replayed(name))
        made[name] = folder / name
    return made


def words(home: Path) -> list[dict[str, Any]]:
    """All that was ever said, early words among it."""
    rows = casetape(home, "cases", "list", "--json").json
    steps = [step for row in rows for step in casetape(home, "cases", "history", row["key"], "--json").json]
    return [one for step in steps for one in step["added"]["analyses"]]


def observed(home: Path) -> list[NewRecord]:
    """What a run has put on the tape, in order."""
    engine = open_engine(home)
    try:
        count = engine.log.partitions(OBSERVATIONS)
        partitions = [TopicPartition(OBSERVATIONS, number) for number in range(count)]
        return [NewRecord(one.key, one.value) for at in partitions for one in engine.log.read(at, 0, 1_000_000)]
    finally:
        engine.close()


def live(home: Path, records: Iterable[NewRecord], batch: int) -> Rig:
    """A worker that was shown the same records live, and then one of days later."""
    rig = Rig(home, partitions=1)
    rig.engine.log.append(OBSERVATIONS, list(records))
    rig.append([observation(subject=f"host:{CLIENT}", at=START + 4 * DAY)])
    rig.host(Dns()).read(batch).save()
    return rig


def totals(said: Iterable[Analysis], fingerprint: str) -> list[tuple[int, bool]]:
    """How much each word of a fingerprint rests on, and whether it was said early."""
    return sorted((one.evidence.total, one.provisional) for one in said if one.fingerprint == fingerprint)


def test_a_run_finds_the_tunnel_and_says_when_it_would_have(homes: dict[str, Path]) -> None:
    found = current(homes["dns2tcp-names"])
    (tunnel,) = [one for one in found if one["detector"] == "dns"]
    assert (tunnel["fingerprint"], tunnel["target"]) == ("dns tunnel hidemyself.org", "hidemyself.org")
    assert (tunnel["case"], tunnel["verdict"], tunnel["severity"]) == (CASE, "malicious", "high")
    assert tunnel["evidence"]["total"] == 4_537
    assert "T1071.004" in tunnel["techniques"]
    said = [one for one in words(homes["dns2tcp-names"]) if one["fingerprint"] == tunnel["fingerprint"]]
    assert len(said) > 5


def test_a_live_worker_finds_it_at_the_same_look_up(homes: dict[str, Path], tmp_path: Path) -> None:
    """Its first words rest on at most fifty; and a run's words are the live worker's, early ones among them."""
    home = homes["dns2tcp-names"]
    rig = live(tmp_path, observed(home), batch=333)
    first, *_, last = totals(rig.said(), "dns tunnel hidemyself.org")
    assert first[0] <= 50
    assert first[1] is True
    assert last == (4_537, False)
    assert {one.id for one in rig.said()} == {one["id"] for one in words(home)}


def test_all_three_tunnels_and_no_plain_domain(homes: dict[str, Path], tmp_path: Path) -> None:
    """SOURCE.md's truth; its four mislabelled names are plain."""
    home = homes["train"]
    found = {one["target"] for one in current(home) if one["detector"] == "dns"}
    assert found == set(TUNNELS)
    rig = live(tmp_path, observed(home), batch=1_000)
    assert {one.target for one in rig.said()} == set(TUNNELS)
    assert all(totals(rig.said(), f"dns tunnel {domain}")[0][0] <= 50 for domain in TUNNELS)
    assert {one.id for one in rig.said()} == {one["id"] for one in words(home)}


def test_nothing_of_plain_names(homes: dict[str, Path], tmp_path: Path) -> None:
    assert current(homes["plain-names"]) == []
    assert live(tmp_path, observed(homes["plain-names"]), batch=1_000).said() == []


def test_nothing_of_the_recorded_attack(tmp_path: Path) -> None:
    """Its command channels are no DNS: whatever its 303 look-ups are, they are plain."""
    run(tmp_path, DAY1, DAY2)
    assert [one["fingerprint"] for one in current(tmp_path) if one["detector"] == "dns"] == []
