"""Whether the names that one client asked for in vain were generated: pure, integers out.

score = (0.60 + 0.30 amount) x look

An algorithm that generates domains tries many registered domains that do not exist, and they look rolled. What is asked
of one registered domain counts once: so block lists, search suffixes and probes of one's own resolver do not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from pydantic import Field

from schemas.scales import MINUTE
from workers.detectors.dns.judgement import Integers, Judgement, Thresholds, confidence
from workers.detectors.dns.lettering import oddness
from workers.detectors.dns.record_types import of_mail
from workers.detectors.dns.scale import MILLION, millionths, ramp

AMOUNT_WEIGHT: Final = 0.30
BASE: Final = 0.60
AMOUNT_FULL: Final = 10
"""The amount counts in full at so many times the fewest domains."""
LOOK_FROM, LOOK_FULL = 0.1, 0.6
"""Mean bits a character (see `lettering`) of the domains' labels, from which the look counts, and counts in full."""
SLOWER: Final = 3
"""A slow algorithm is one that tries so many times the fewest domains within the window."""
FEWEST_CHARACTERS: Final = 6
"""Of a shorter label nobody can tell."""
_HEX = frozenset("0123456789abcdef")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz-")


class BurstParameters(Thresholds):
    """Settings of the judgement of look-ups in vain."""

    fewest_domains: int = Field(
        default=10, ge=3, description="registered domains that do not exist, within `burst_span`, that make a burst"
    )
    burst_span: int = Field(default=10 * MINUTE, ge=1, description="how close together they are (microseconds)")


@dataclass(frozen=True, slots=True, eq=False)
class Vain:
    """What one client asked for and was told does not exist, by (time, observation id): of each row the registered
    domain, the time (int64[n], microseconds) and the record type (int64[n])."""

    at: Integers
    domains: Sequence[str]
    type: Integers


def judge(vain: Vain, parameters: BurstParameters) -> Judgement | None:
    """Judges one client's look-ups in vain; None if there is nothing to say."""
    mail = {domain for domain, one in zip(vain.domains, of_mail(vain.type).tolist(), strict=True) if one}
    first: dict[str, int] = {}
    for domain, at in zip(vain.domains, vain.at.tolist(), strict=True):
        # a mail server asks for the domains that others name as senders: many do not exist
        if domain not in mail and len(_label(domain)) >= FEWEST_CHARACTERS:
            first.setdefault(domain, at)
    if len(first) < parameters.fewest_domains:
        return None
    times = np.array(list(first.values()), dtype=np.int64)
    together = np.searchsorted(times, times + parameters.burst_span, side="left") - np.arange(len(times))
    densest = int(np.argmax(together))
    within = int(together[densest])
    amount = max(within, len(times) // SLOWER)
    if amount < parameters.fewest_domains:
        return None
    domains = list(first)
    if within >= parameters.fewest_domains:
        domains = domains[densest : densest + within]
    looks = [_look(domain) for domain in domains]
    numbers = {
        "domains": len(first),
        "together": within,
        "look": millionths(sum(looks) / len(looks)),
        "queries": len(vain.domains),
        "suffixes": len({domain.partition(".")[2] for domain in domains}),
        "mean_length": millionths(sum(len(_label(domain)) for domain in domains) / len(domains)),
        "left_out": len(mail),
        "observed_span": int(times[-1] - times[0]),
        "densest_span": int(times[densest + within - 1] - times[densest]),
    }
    grown = np.log10(amount / parameters.fewest_domains) / np.log10(AMOUNT_FULL)
    score = millionths(
        (BASE + AMOUNT_WEIGHT * ramp(float(grown), 0, 1)) * ramp(numbers["look"] / MILLION, LOOK_FROM, LOOK_FULL)
    )
    if score < parameters.report_from:
        return None
    return Judgement(
        score=score,
        confidence=confidence(amount),
        verdict="malicious" if score >= parameters.malicious_from else "suspicious",
        numbers=numbers,
        examples=tuple(domains[:5]),
    )


def _label(domain: str) -> str:
    return domain.partition(".")[0]


def _look(domain: str) -> float:
    label = _label(domain)
    used = set(label)
    return oddness(label, 16 if used <= _HEX else 26 if used <= _LETTERS else 36)
