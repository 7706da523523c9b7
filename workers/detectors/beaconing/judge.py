"""The verdict on one (source, destination, port, transport) in one window: pure, deterministic, integers out.

score = (0.55 x regularity + 0.20 x sameness + 0.15 x persistence) x lightness x explained

The weights sum to 0.90: a beacon by itself is never critical, and without a rhythm nothing reaches 0.40.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from workers.detectors.beaconing import conn_state, wording
from workers.detectors.beaconing.connections import MICROSECONDS, Connections, Span, conversations
from workers.detectors.beaconing.exchange import UNKNOWN, Exchange, exchange
from workers.detectors.beaconing.rhythm import Rhythm, rhythm
from workers.detectors.beaconing.rita import rita
from workers.detectors.beaconing.scale import MILLION, millionths

Verdict = Literal["unknown", "suspicious", "malicious"]
Millionths = Annotated[int, Field(ge=0, le=MILLION)]

REGULARITY_WEIGHT: Final = 550_000
SAMENESS_WEIGHT: Final = 200_000
PERSISTENCE_WEIGHT: Final = 150_000
CONFIDENCE_HALF: Final = 4
"""Calls at which confidence is one half: it is calls / (calls + 4)."""


class BeaconingParameters(BaseModel):
    """Settings of the beaconing detector; scores in millionths, times in microseconds, sizes relative to the median."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    report_from: Millionths = 400_000
    """Below this score (millionths) nothing is said."""
    suspect_from: Millionths = 600_000
    """From this score (millionths) the verdict is `suspicious`; below it `unknown`."""
    fewest_calls: int = Field(default=6, ge=6)
    """Fewer calls than this are no rhythm: a memoryless process would often look as regular."""
    shortest_span: int = Field(default=60 * MICROSECONDS, ge=1)
    """First to last conversation must be at least this far apart (microseconds): one page load is no rhythm."""
    size_tolerance: int = Field(default=250_000, ge=1)
    """Interquartile range of request sizes, in millionths of their median, from which they no longer count as alike."""
    strobe_from: int = Field(default=86_400, ge=1)
    """This many connections in the window, answered or not, are a strobe."""
    strobe_score: Millionths = 600_000
    """Least score of a strobe that is answered (millionths); two thirds of it when most connections fail."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of one key. Score and confidence in millionths.

    `numbers` are scaled integers, each explained in docs/explanation/beaconing.md: those from `regularity` to `jitter`
    are of the rhythm (absent if none could be measured), `rita_*` are RITA's (absent below four distinct seconds).
    """

    score: int
    confidence: int
    verdict: Verdict
    numbers: dict[str, int]
    title: str
    text: str


def judge(connections: Connections, span: Span, parameters: BeaconingParameters) -> Judgement | None:
    """Judge the connections of one key in one window; None if there is nothing to say.

    Whatever the order in which the input rows arrived, equal connections give equal integers.
    """
    total = len(connections)
    if total < parameters.fewest_calls:
        return None
    strobe = total >= parameters.strobe_from
    talks = conversations(connections)
    answered = int(np.count_nonzero(talks))
    at = connections.at[talks]
    long_enough = answered >= parameters.fewest_calls and int(at[-1] - at[0]) >= parameters.shortest_span
    found = rhythm(at, parameters.fewest_calls) if long_enough else None
    if found is None and not strobe:
        return None
    traffic = exchange(
        connections.sent[talks], connections.received[talks], connections.services, parameters.size_tolerance
    )
    score = _score(found, traffic)
    if strobe:
        least = parameters.strobe_score if 2 * answered >= total else parameters.strobe_score * 2 // 3
        score = max(score, least, parameters.report_from)
    if score < parameters.report_from:
        return None
    calls = found.calls if found else total
    numbers = _numbers(connections, span, answered, found, traffic) | {"strobe": int(strobe)}
    return Judgement(
        score=score,
        confidence=calls * MILLION // (calls + CONFIDENCE_HALF),
        verdict="suspicious" if score >= parameters.suspect_from else "unknown",
        numbers=numbers,
        title=wording.title(numbers),
        text=wording.text(numbers, connections),
    )


def _score(found: Rhythm | None, traffic: Exchange) -> int:
    if found is None:
        return 0
    evidence = (
        REGULARITY_WEIGHT * found.regularity
        + SAMENESS_WEIGHT * traffic.sameness
        + PERSISTENCE_WEIGHT * found.persistence
    ) // MILLION
    return evidence * traffic.lightness // MILLION * traffic.explained // MILLION


def _numbers(
    connections: Connections, span: Span, answered: int, found: Rhythm | None, traffic: Exchange
) -> dict[str, int]:
    total = len(connections)
    at = connections.at
    numbers = {
        "connections": total,
        "conversations": answered,
        "failed": int(np.count_nonzero(conn_state.failed(connections.state))),
        "established_share": int(np.count_nonzero(conn_state.established(connections.state))) * MILLION // total,
        "observed_span": int(at[-1] - at[0]),
        "median_gap": int(np.sort(np.diff(at))[(total - 1) // 2]),
        "sent_median": traffic.sent,
        "received_median": traffic.received,
        "size_width": traffic.width,
        "sameness": traffic.sameness,
        "lightness": traffic.lightness,
        "explained": traffic.explained,
        "calls": found.calls if found else 0,
        "regularity": found.regularity if found else 0,
        "persistence": found.persistence if found else 0,
    }
    if found:
        numbers |= {
            "variation": found.variation,
            "significance": found.significance,
            "lag": found.lag,
            "period": found.period,
            "jitter": found.jitter,
        }
    return numbers | _rita_numbers(connections, span)


def _rita_numbers(connections: Connections, span: Span) -> dict[str, int]:
    scores = rita(connections, span)
    if scores is None:
        return {}
    return {
        "rita_timestamp": millionths(scores.timestamp),
        "rita_data_size": millionths(scores.data_size),
        "rita_histogram": millionths(scores.histogram),
        "rita_duration": millionths(scores.duration),
        "rita_score": millionths(scores.score),
    }


__all__ = ["UNKNOWN", "BeaconingParameters", "Connections", "Judgement", "Span", "judge"]
