"""What both judgements have in common: their thresholds, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from workers.detectors.dns.scale import MILLION

Verdict = Literal["suspicious", "malicious"]
Millionths = Annotated[int, Field(ge=0, le=MILLION)]
Integers = npt.NDArray[np.int64]
CONFIDENCE_HALF: Final = 8
"""Names at which confidence is one half: it is names / (names + 8)."""


class Thresholds(BaseModel):
    """From which scores something is said, and what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    report_from: Millionths = Field(default=600_000, description="below this score (millionths) nothing is said")
    malicious_from: Millionths = Field(
        default=850_000,
        description="from this score (millionths) the verdict is malicious, below it suspicious; a tunnel is malicious "
        "only if half its questions are of types whose answers carry data back",
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of one domain, or of one client's look-ups in vain. Score and confidence in millionths; `numbers`
    are scaled integers, each explained in docs/explanation/dns.md; `examples` are names, `alphabet` what a tunnel's
    payload is written in."""

    score: int
    confidence: int
    verdict: Verdict
    numbers: dict[str, int]
    examples: tuple[str, ...]
    alphabet: str = ""


def confidence(names: int) -> int:
    """The confidence (millionths) that so many names give."""
    return names * MILLION // (names + CONFIDENCE_HALF)
