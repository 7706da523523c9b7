"""Observations for tests of windows."""

from __future__ import annotations

from schemas.observation import Observation
from schemas.scales import HOUR, SECOND
from tests.factories import START, observation

SUBJECT = "host:10.0.0.5"


def regular(count: int, *, subject: str = SUBJECT, every: int = 600, start: int = 0) -> list[Observation]:
    """Observations every `every` seconds, each with its number."""
    return [
        observation(start + n, subject=subject, at=START + (start + n) * every * SECOND, data={"n": start + n})
        for n in range(count)
    ]


def closer(hours: int, subject: str = SUBJECT) -> Observation:
    """An event so much later that everything an hour and more before it is closed."""
    return observation(10_000 + hours, subject=subject, at=START + hours * HOUR, data={"n": 0, "key": "closer"})


def mixed() -> list[Observation]:
    """Three subjects in turn, duplicates among them, and what closes their windows."""
    events = [one for n in range(3) for one in regular(16, subject=f"host:10.0.0.{n}", every=900)]
    ordered = sorted(events, key=lambda one: (one.at or 0, one.subject))
    return [*ordered, *ordered[5:9], *(closer(30, f"host:10.0.0.{n}") for n in range(3))]
