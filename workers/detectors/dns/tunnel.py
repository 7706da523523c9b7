"""Whether the names that one client asked for below one registered domain carry data: pure, integers out.

score = (0.42 width + 0.36 amount + 0.16 telling) x share x unreturned

Each part is 0 to 1 and explained in docs/explanation/dns.md. The weights sum to 0.94: names alone are never critical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from pydantic import Field

from schemas.scales import SECOND
from workers.detectors.dns.judgement import Integers, Judgement, Thresholds, confidence
from workers.detectors.dns.numbering import numbered
from workers.detectors.dns.payload import FEWEST_CHARACTERS, Payloads, payloads
from workers.detectors.dns.record_types import UNKNOWN, carrying
from workers.detectors.dns.records import ANSWERED, NXDOMAIN
from workers.detectors.dns.scale import MILLION, millionths, ramp

WIDTH_WEIGHT: Final = 0.42
AMOUNT_WEIGHT: Final = 0.36
TELLING_WEIGHT: Final = 0.16
WIDTH_FROM, WIDTH_FULL = 44.0, 64.0
"""Random bits a name (its upper quartile) from which the width counts, and counts in full."""
TELLING_NARROWER: Final = 24.0
"""By so many bits less where every question is of a type whose answer carries data, or the names are numbered."""
LONG_FROM, LONG_FULL = 128.0, 256.0
"""Random bits a name from which its length is telling by itself, and fully: about 25 and 50 characters."""
AMOUNT_FROM, AMOUNT_FULL, AMOUNT_FULL_TELLING = 2.0, 3.3, 3.0
"""Decimal logarithm of the bytes in all names, likewise: 100 and 2,000; or 1,000 where the names or types tell more."""
SHARE_FROM, SHARE_FULL = 0.2, 0.5
RETURNED_FROM, RETURNED_FULL = 0.02, 0.20
"""Share of names asked for again later, from which it counts against a tunnel, and refutes it."""
SHORT_REPLY: Final = 100
"""Up to so many characters (the median's) an answer is a word about the thing that was looked up."""
LOOKED_INTO: Final = 1_000
"""Of more distinct names so many are looked into, evenly spread."""
MOST_ROWS: Final = 300_000
"""Of many more rows about so many are read, evenly spread: of a day at 50 questions a second one in fifteen."""


class TunnelParameters(Thresholds):
    """Settings of the judgement of tunnels."""

    fewest_names: int = Field(
        default=10, ge=2, description="fewer different random names below a domain than this are no tunnel"
    )
    returns_after: int = Field(
        default=30 * SECOND,
        ge=0,
        description="a name asked for again so much later (microseconds) has returned; sooner, it is a repetition",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """What one client asked for below one registered domain, by (time, observation id).

    `below`: of each row the part of the name below the domain, as it came. The arrays are int64[n]: `at` in
    microseconds; `role`, `type`, `rcode` and `reply` as in `records`.
    """

    at: Integers
    below: Sequence[str]
    role: Integers
    type: Integers
    rcode: Integers
    reply: Integers


@dataclass(slots=True)
class _Asked:
    """A distinct name: as it was first asked for, when first and when last."""

    name: str
    first: int
    last: int


def judge(questions: Questions, parameters: TunnelParameters) -> Judgement | None:
    """Judges the questions of one client below one domain; None if there is nothing to say. Equal questions give equal
    integers, in whatever order they arrived."""
    asked = _distinct(questions)
    # most domains have only few names, and short ones
    if sum(len(one.name) >= FEWEST_CHARACTERS for one in asked) < parameters.fewest_names:
        return None
    seen = _spread(asked)
    found = payloads([one.name for one in seen], excused=not _bulky(questions))
    names = len(found.random) * len(asked) // len(seen)
    if names < parameters.fewest_names:
        return None
    returned = sum(seen[place].last - seen[place].first > parameters.returns_after for place in found.random)
    numbers = _numbers(questions, asked, found, names, returned * MILLION // len(found.random))
    numbers["numbered"] = int(numbered([seen[place].name for place in found.random]))
    score = _score(numbers)
    if score < parameters.report_from:
        return None
    both_ways = 2 * numbers["carrying"] >= MILLION
    widest = sorted(found.random, key=lambda place: (-len(seen[place].name), seen[place].name))
    return Judgement(
        score=score,
        confidence=confidence(names),
        verdict="malicious" if score >= parameters.malicious_from and both_ways else "suspicious",
        numbers=numbers,
        examples=tuple(seen[place].name for place in (*found.random[:2], *widest[:1])),
        alphabet=found.alphabet.name,
    )


def _bulky(questions: Questions) -> bool:
    """Whether much comes back: who looks up a digest is answered with an address or a word."""
    replies = questions.reply[(questions.reply != UNKNOWN) & carrying(questions.type)]
    return bool(len(replies)) and float(np.median(replies)) > SHORT_REPLY


def _distinct(questions: Questions) -> list[_Asked]:
    """The names that are distinct whatever their case, in order of first appearance."""
    asked: dict[str, _Asked] = {}
    step = -(-len(questions.below) // MOST_ROWS)
    for name, at in zip(questions.below[::step], questions.at[::step].tolist(), strict=True):
        known = asked.get(lower := name.lower())
        if known is None:
            asked[lower] = _Asked(name, at, at)
        else:
            known.last = at
    return list(asked.values())


def _spread(asked: Sequence[_Asked]) -> Sequence[_Asked]:
    if len(asked) <= LOOKED_INTO:
        return asked
    return [asked[place * len(asked) // LOOKED_INTO] for place in range(LOOKED_INTO)]


def _score(numbers: dict[str, int]) -> int:
    bits = numbers["bits"] / MILLION
    telling = 1.0 if numbers["numbered"] else numbers["carrying"] / MILLION
    narrower = TELLING_NARROWER * telling
    width = ramp(bits, WIDTH_FROM - narrower, WIDTH_FULL - narrower)
    full = AMOUNT_FULL - (AMOUNT_FULL - AMOUNT_FULL_TELLING) * telling
    amount = ramp(float(np.log10(max(1, numbers["bytes"]))), AMOUNT_FROM, full)
    share = ramp(numbers["random_share"] / MILLION, SHARE_FROM, SHARE_FULL)
    unreturned = 1 - ramp(numbers["returned"] / MILLION, RETURNED_FROM, RETURNED_FULL)
    evidence = (
        WIDTH_WEIGHT * width + AMOUNT_WEIGHT * amount + TELLING_WEIGHT * max(telling, ramp(bits, LONG_FROM, LONG_FULL))
    )
    return millionths(evidence * share * unreturned)


def _numbers(
    questions: Questions, asked: Sequence[_Asked], found: Payloads, names: int, returned: int
) -> dict[str, int]:
    is_answer = questions.role == ANSWERED
    # a sensor that writes down answers only has seen a question for each
    of_question = ~is_answer if not is_answer.all() else is_answer
    types = questions.type[of_question]
    known = types[types != UNKNOWN]
    replies = np.sort(questions.reply[questions.reply != UNKNOWN])
    rcodes = questions.rcode[questions.rcode != UNKNOWN]
    lengths = np.sort(np.array([len(one.name) for one in asked], dtype=np.int64))
    bits = sorted(found.bits)
    return {
        "queries": int(np.count_nonzero(of_question)),
        "names": len(asked),
        "random_names": names,
        "random_share": millionths(found.share),
        "returned": returned,
        "bits": millionths(bits[3 * len(bits) // 4]),
        "bytes": round(sum(bits) / 8 * names / len(bits)),
        "entropy": millionths(found.entropy),
        "longest": int(lengths[-1]),
        "median_length": int(lengths[len(lengths) // 2]),
        "type": _commonest(known),
        "carrying": int(np.count_nonzero(carrying(known))) * MILLION // max(1, len(known)),
        "nxdomain": int(np.count_nonzero(rcodes == NXDOMAIN)) * MILLION // len(rcodes) if len(rcodes) else UNKNOWN,
        "reply_median": int(replies[len(replies) // 2]) if len(replies) else UNKNOWN,
        "reply_bytes": int(replies.sum()) if len(replies) else UNKNOWN,
        "observed_span": int(questions.at[-1] - questions.at[0]),
    }


def _commonest(types: Integers) -> int:
    if not len(types):
        return UNKNOWN
    codes, counts = np.unique(types, return_counts=True)
    return int(codes[np.argmax(counts)])
