"""`noisy-or`: detectors as independent witnesses, each of which may be wrong by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from merge.policies.contract import UNDECIDED, Decision
from schemas.analysis import Analysis
from schemas.canonical import Json
from schemas.scales import MILLION
from schemas.verdicts import rank


def noisy_or(analyses: Sequence[Analysis], newest: int | None, options: Mapping[str, Json]) -> Decision:
    """The worst verdict said; and 1 - product of (1 - w), where w is each detector's largest weight of a suspicious or
    malicious analysis. The product is taken in whole numbers, so that it is exact whatever the order and the machine,
    and the score is rounded down to a millionth, as weights are. It rests on the analyses that say the verdict, and on
    those whose weight went into the score. Of no analyses: unknown, 0.

    The formula is the noisy-or gate of J. Pearl, Probabilistic Reasoning in Intelligent Systems (1988), section 4.3.2.
    """
    if not analyses:
        return UNDECIDED
    worst = max(rank(one.verdict) for one in analyses)
    weights: dict[str, int] = {}
    for one in analyses:
        if _accuses(one):
            weights[one.detector] = max(one.weight, weights.get(one.detector, 0))
    whole = MILLION ** len(weights)
    doubt = prod(MILLION - weight for weight in weights.values())
    score = (whole - doubt) * MILLION // whole
    counted = [one for one in analyses if rank(one.verdict) == worst or _went_in(one, weights)]
    return Decision(next(one.verdict for one in counted if rank(one.verdict) == worst), score, counted)


def _accuses(one: Analysis) -> bool:
    return one.verdict in ("suspicious", "malicious")


def _went_in(one: Analysis, weights: Mapping[str, int]) -> bool:
    return _accuses(one) and 0 < one.weight == weights[one.detector]
