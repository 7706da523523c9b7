"""`quorum`: what enough detectors agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from merge.policies.contract import UNDECIDED, Decision, takes
from schemas.analysis import Analysis
from schemas.canonical import Json
from schemas.verdicts import VERDICTS, rank


class Quorum(BaseModel):
    """`k`: how many detectors it takes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int = Field(default=2, ge=1, le=1000, strict=True)


@takes(Quorum)
def quorum(analyses: Sequence[Analysis], newest: int | None, options: Mapping[str, Json]) -> Decision:
    """The worst verdict that k detectors reach or exceed, each by the worst it says; the k-th largest of the detectors'
    largest weights. It rests on the analyses that reach that verdict or have at least that weight. Of fewer than k
    detectors: unknown, 0, resting on nothing. With k = 1 it is `worst`."""
    ranks: dict[str, int] = {}
    weights: dict[str, int] = {}
    for one in analyses:
        ranks[one.detector] = max(rank(one.verdict), ranks.get(one.detector, 0))
        weights[one.detector] = max(one.weight, weights.get(one.detector, 0))
    k: int = options["k"]
    if len(ranks) < k:
        return UNDECIDED
    reached = sorted(ranks.values())[-k]
    score = sorted(weights.values())[-k]
    counted = [one for one in analyses if rank(one.verdict) >= reached or one.weight >= score]
    return Decision(VERDICTS[reached], score, counted)
