"""Policies with options, and the assessment of a few analyses by them."""

from __future__ import annotations

from typing import Any

from merge.assess import assess
from merge.policies.registry import BoundPolicy, Chosen, Registry
from merge.state import State, add
from merge.summary import summarise
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.scales import DAY
from tests.factories import START, analysis

NAMES = ["worst", "quorum", "noisy-or", "trust-order"]
OWN: dict[str, dict[str, Any]] = {"quorum": {"k": 1}, "trust-order": {"order": ["beaconing", "dns"]}}
"""Options by which each policy listens to whoever is there."""


def bound(name: str = "worst", **options: Any) -> BoundPolicy:
    return Registry().bind(Chosen(name, {**OWN.get(name, {}), **options}))


def assessed(analyses: list[Analysis], policy: BoundPolicy) -> Assessment:
    """As a merger assesses a case that has these analyses."""
    summary = summarise(add(State(), analyses), 1, "ver_x", 0)
    return assess(summary.current.values(), summary.newest, policy)


OLD = analysis(1, verdict="malicious", score=900_000, at=START, target="t")
NEW = analysis(2, detector="dns", verdict="suspicious", score=500_000, at=START + 10 * DAY)
