"""`worst`: the worst verdict and the largest weight of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from merge.policies.contract import UNDECIDED, Decision
from schemas.analysis import Analysis
from schemas.canonical import Json
from schemas.verdicts import rank


def worst(analyses: Sequence[Analysis], newest: int | None, options: Mapping[str, Json]) -> Decision:
    """The worst verdict said, the largest weight (score x confidence, millionths) found; it rests on the analyses that
    say the one or have the other. Of no analyses at all: unknown, 0."""
    if not analyses:
        return UNDECIDED
    verdict = max((one.verdict for one in analyses), key=rank)
    weights = [one.weight for one in analyses]
    score = max(weights)
    counted = [one for one, weight in zip(analyses, weights, strict=True) if one.verdict == verdict or weight == score]
    return Decision(verdict, score, counted)
