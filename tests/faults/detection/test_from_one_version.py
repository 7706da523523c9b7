"""Two sets of detectors, each a worker of its own, start from the same version of one case: both results come into the
case, whatever the policy and whoever was first (state table of the field reports, row 1; I3, I4)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merge.merger import Merger
from merge.policies.registry import BoundPolicy
from merge.reading import load_summary
from schemas.keys import case_key
from schemas.observation import Observation
from schemas.scales import SECOND
from tests.factories import START, SUBJECT, TENANT, observation
from tests.faults.detection.rig import Rig
from tests.faults.merge.homes import Outcome, merge, outcomes
from tests.unit.merge.cases import POLICIES
from workers.detection.plugin import Answer, Detector, Finding
from workers.detectors.beaconing import Beaconing
from workers.detectors.dns import Dns
from workers.detectors.recorder import Recorder

MINUTE = 60 * SECOND
CASE = case_key(TENANT, SUBJECT)


class Calls(Detector):
    """Says that a host calls out."""

    name = "calls"
    kinds = ("zeek.conn",)

    def detect(self, observation: Observation) -> Answer:
        """A finding about the destination."""
        return Finding("malicious", 0.9, fingerprint="calls 203.0.113.9", target="203.0.113.9")


class Names(Detector):
    """Says that a host asks for strange names."""

    name = "names"
    kinds = ("zeek.dns", "zeek.conn")

    def detect(self, observation: Observation) -> Answer:
        """A finding about the domain."""
        return Finding("suspicious", 0.6, fingerprint="names tunnel.example", target="tunnel.example")


def worked_off(home: Path, policy: BoundPolicy, order: tuple[Detector, ...]) -> Outcome:
    """What the case comes to when the workers publish in this order, and only then a merger looks."""
    rig = Rig(home)
    merger = Merger(rig.engine.log, rig.engine.store, lambda tenant, subject: policy, now=rig.clock.micros)
    rig.append([observation(0, kind="text", text="look at this host")])
    rig.host(Recorder(), detectors_name="recorder").read().leave()
    merge(rig.engine, merger)
    first = load_summary(rig.engine.store, CASE)
    assert first.number == 1
    rig.append([observation(1), observation(2, kind="zeek.dns")])
    for detector in order:
        rig.host(detector, detectors_name=detector.name).read().leave()
    parents = {version.header.author.name: version.header.parents for version in rig.versions()}
    assert parents["calls"] == parents["names"] == (first.id,)
    merge(rig.engine, merger)
    found = outcomes(rig.engine)[CASE]
    rig.engine.close()
    return found


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: f"{one.name} {one.recorded}")
def test_both_results_are_in_the_case_in_either_order(tmp_path: Path, policy: BoundPolicy) -> None:
    one = worked_off(tmp_path / "one", policy, (Calls(), Names()))
    other = worked_off(tmp_path / "other", policy, (Names(), Calls()))
    assert one == other
    assert len(one.current) == 2
    assert (one.inputs, one.assessment is None) == (3, False)


def evidence() -> list[Observation]:
    """A host that calls home every minute for three hours, and asks for names that carry data."""
    chance = random.Random(3)
    ends = {"id.orig_h": "10.0.0.5", "id.orig_p": 50_000, "proto": "tcp"}
    calls = [
        observation(n, at=START + n * MINUTE, data={**ends, "n": n, "id.resp_h": "203.0.113.9", "id.resp_p": 443})
        for n in range(180)
    ]
    names = [
        observation(
            n,
            kind="zeek.dns",
            at=START + n * SECOND,
            data={
                **ends,
                "id.resp_h": "10.0.0.2",
                "id.resp_p": 53,
                "query": f"{chance.randbytes(24).hex()}.example.org",
            },
        )
        for n in range(60)
    ]
    return [*calls, *names]


def concluded(home: Path, policy: BoundPolicy, order: tuple[Detector, ...]) -> tuple[Outcome, set[str]]:
    """The same, and whose word is current, with casetape's own detectors: both conclude once both have read all."""
    rig = Rig(home)
    merger = Merger(rig.engine.log, rig.engine.store, lambda tenant, subject: policy, now=rig.clock.micros)
    rig.append([observation(0, kind="text", text="look at this host")])
    rig.host(Recorder(), detectors_name="recorder").read().leave()
    merge(rig.engine, merger)
    first = load_summary(rig.engine.store, CASE)
    rig.append(evidence())
    hosts = [rig.host(detector, detectors_name=detector.name, bounded=True).read() for detector in order]
    for host in hosts:
        host.drain().leave()
    parents = {version.header.author.name: version.header.parents for version in rig.versions()}
    assert parents["beaconing"] == parents["dns"] == (first.id,)
    merge(rig.engine, merger)
    found = outcomes(rig.engine)[CASE]
    current = {one.detector for one in load_summary(rig.engine.store, CASE).current.values()}
    rig.engine.close()
    return found, current


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: f"{one.name} {one.recorded}")
def test_beaconing_and_dns_are_both_in_the_case_in_either_order(tmp_path: Path, policy: BoundPolicy) -> None:
    one = concluded(tmp_path / "one", policy, (Beaconing(), Dns()))
    other = concluded(tmp_path / "other", policy, (Dns(), Beaconing()))
    assert one == other
    assert one[1] == {"beaconing", "dns"}
