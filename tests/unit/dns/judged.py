"""What the detector says of look-ups that come in order of time, early words and final ones, without a worker around
it: `tests/acceptance/test_dns.py` holds the two against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from schemas.observation import Observation
from workers.detection.plugin import Finding
from workers.detection.windowed import Measure, Rows, Span
from workers.detectors.dns import Dns


class Word(NamedTuple):
    """A finding, and how many rows it rests on."""

    finding: Finding
    rows: int
    early: bool


def judged(observations: Iterable[Observation], detector: Dns | None = None) -> dict[str, list[Word]]:
    """By fingerprint: everything said, in order."""
    detector = detector or Dns()
    rows: dict[str, list[tuple[int, Measure]]] = defaultdict(list)
    for one in observations:
        assert one.at is not None
        for measure in detector.measure(one):
            rows[measure.key].append((one.at, measure))
    said: dict[str, list[Word]] = defaultdict(list)
    for key, held in rows.items():
        for word in _words(detector, key, sorted(held, key=lambda row: row[0])):
            assert word.finding.fingerprint
            said[word.finding.fingerprint].append(word)
    return said


def _words(detector: Dns, key: str, held: list[tuple[int, Measure]]) -> Iterable[Word]:
    length, every = detector.window
    at = np.array([row[0] for row in held], dtype=np.int64)
    for end in sorted({int(one) // every * every + every for one in at}):
        first, part, last = np.searchsorted(at, [end - length, end - every, end])
        for count in [*(one for one in detector.early if one <= last - part), None]:
            until = int(last if count is None else part + count)
            shown = held[first:until]
            if len(shown) < detector.minimum:
                continue
            numbers = np.array([row[1].numbers for row in shown], dtype=np.int64)
            answer = detector.conclude(
                key, Rows(at[first:until], numbers, [row[1].label for row in shown]), Span(end - length, end)
            )
            if answer is not None:
                assert isinstance(answer, Finding), "it rests on all rows of its key"
                yield Word(answer, len(shown), count is not None)
