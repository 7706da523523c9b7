"""Made-up look-ups of one client, and how a sensor writes them down."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from schemas.observation import Observation
from schemas.scales import SECOND
from tests.factories import START, observation
from workers.detectors.dns.words import WORDS

HEX = "0123456789abcdef"
BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BASE36 = LETTERS + "0123456789"
BASE64 = LETTERS + LETTERS.upper() + "0123456789+/"


class Ask(NamedTuple):
    """A question and its answer: seconds after the start, name, record type, result, answers."""

    at: float
    query: str
    type: str = "A"
    rcode: str = "NOERROR"
    answers: tuple[str, ...] = ()


def zeek(asks: list[Ask], client: str = "10.0.0.5") -> list[Observation]:
    """As Zeek writes them down."""
    return [
        observation(
            subject=f"host:{client}",
            kind="zeek.dns",
            at=START + round(one.at * SECOND),
            data={
                "uid": f"C{number}",
                "id.orig_h": client,
                "id.resp_h": "10.0.0.53",
                "id.resp_p": 53,
                "query": one.query,
                "qtype_name": one.type,
                "rcode_name": one.rcode,
                "answers": list(one.answers),
            },
        )
        for number, one in enumerate(asks)
    ]


def text(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def labels(data: str, longest: int = 63) -> str:
    """The data cut into labels."""
    return ".".join(data[start : start + longest] for start in range(0, len(data), longest))


def spaced(count: int, every: float, rng: random.Random, jitter: float = 0.2) -> Iterator[float]:
    """Times every so many seconds."""
    return ((n + rng.uniform(-jitter, jitter) / 2) * every for n in range(1, count + 1))


def word(rng: random.Random) -> str:
    return rng.choice(WORDS)


def repeated(
    rng: random.Random, names: list[str], count: int = 3_000, over: float = 8 * 3600, kind: str = "A"
) -> list[Ask]:
    """These names again and again, some more than others, at random times."""
    chosen = rng.choices(names, weights=[1 / (n + 1) ** 0.5 for n in range(len(names))], k=count)
    return [
        Ask(at, one, kind, answers=("203.0.113.9",))
        for at, one in zip(sorted(rng.uniform(0, over) for _ in chosen), chosen, strict=True)
    ]


def once(
    rng: random.Random, names: list[str], every: float = 20.0, kind: str = "A", rcode: str = "NOERROR"
) -> list[Ask]:
    """Each name once."""
    return [Ask(at, one, kind, rcode) for at, one in zip(spaced(len(names), every, rng), names, strict=True)]


Maker = Callable[[random.Random], list[Ask]]
Families = Mapping[str, Maker]
"""What one client asks for, made anew of each seed, by name."""
