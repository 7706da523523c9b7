"""Observations and readings for the tests of early words."""

from __future__ import annotations

from schemas.analysis import Analysis
from schemas.observation import Observation
from tests.faults.detection.detectors import Limits
from tests.faults.detection.rig import Rig
from tests.faults.detection.traffic import closer, regular

FEW = Limits(threshold=2)


def ids(rig: Rig) -> set[str]:
    return {one.id for one in rig.said()}


def by_evidence(rig: Rig) -> list[Analysis]:
    return sorted(rig.said(), key=lambda one: one.evidence.total)


def early(rig: Rig) -> list[tuple[str, int]]:
    """Fingerprint and evidence of what was said early, the least evidence first."""
    return [(one.fingerprint, one.evidence.total) for one in by_evidence(rig) if one.provisional]


def traffic() -> list[Observation]:
    """Four subjects of different haste over ten hours, in order of time, and what closes their windows."""
    events = [one for n, every in enumerate((90, 240, 900, 1_700)) for one in regular(36, subject=host(n), every=every)]
    ordered = sorted(events, key=lambda one: (one.at or 0, one.subject))
    return [*ordered, *(closer(48, host(n)) for n in range(4))]


def host(n: int) -> str:
    return f"host:10.0.0.{n}"
