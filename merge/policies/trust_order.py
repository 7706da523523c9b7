"""`trust-order`: the most trusted detector that has an opinion decides alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, field_validator

from merge.policies.contract import UNDECIDED, Decision, takes
from merge.policies.worst import worst
from schemas.analysis import Analysis
from schemas.canonical import Json


class TrustOrder(BaseModel):
    """`order`: names of detectors, the most trusted first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    order: tuple[str, ...] = ()

    @field_validator("order", mode="before")
    @classmethod
    def _one(cls, value: object) -> object:
        """A single name needs no list, so that a command line can give it as it is."""
        return (value,) if isinstance(value, str) else value


@takes(TrustOrder)
def trust_order(analyses: Sequence[Analysis], newest: int | None, options: Mapping[str, Json]) -> Decision:
    """The first detector of `order` that says anything but unknown decides alone: the worst verdict and the largest
    weight of what it says. Where none does, the case stays unknown."""
    for name in options["order"]:
        said = [one for one in analyses if one.detector == name and one.verdict != "unknown"]
        if said:
            return worst(said, newest, {})
    return UNDECIDED
