"""Detectors for tests: plain enough that what they must say can be counted on one's fingers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from pydantic import BaseModel

from schemas.observation import Observation
from schemas.scales import HOUR
from workers.detection.plugin import Answer, Detector, Finding
from workers.detection.windowed import Measure, Rows, Span, Window, WindowedDetector


class Each(Detector):
    """Says something of every observation."""

    name = "each"

    def detect(self, observation: Observation) -> Answer:
        """One finding, its fingerprint the observation's number."""
        return Finding("suspicious", 0.5, fingerprint=f"each {(observation.data or {}).get('n')}", title="seen")


class Limits(BaseModel):
    """At how many rows it speaks."""

    threshold: int = 6


class Threshold(WindowedDetector):
    """Speaks when a key has so many rows in a window. Its window is four hours long and concluded every hour."""

    name = "threshold"
    window: ClassVar[Window] = Window(4 * HOUR, HOUR)
    columns = ("n",)
    Parameters = Limits

    def measure(self, observation: Observation) -> Measure | Iterable[Measure] | None:
        """Grouped by the record's `key`, where it has one."""
        data = observation.data or {}
        return Measure(data.get("key", "k"), (data.get("n", 0),), data.get("label"))

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """Numbers say what it was shown; the fingerprint names the window, so that none hides another."""
        assert isinstance(self.parameters, Limits)
        if len(rows.at) < self.parameters.threshold:
            return None
        numbers = {"count": len(rows.at), "sum": int(rows.numbers[:, 0].sum())}
        labels = ",".join(sorted({label for label in rows.labels if label}))
        return Finding("malicious", 0.9, fingerprint=f"{key} {span.end}", title="many", text=labels, numbers=numbers)


class Tumbling(Threshold):
    """The same in windows that do not overlap, one fingerprint for all of them."""

    name = "tumbling"
    window = Window(HOUR, HOUR)

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """The newest window is current."""
        said = super().conclude(key, rows, span)
        return None if said is None else Finding("malicious", 0.9, fingerprint=key, title="many", numbers=said.numbers)


class Early(Threshold):
    """The same with early words, and one fingerprint a key."""

    name = "early"
    early: ClassVar[Sequence[int]] = (2, 5, 12)

    def conclude(self, key: str, rows: Rows, span: Span) -> Finding | None:
        """The newest rows are current."""
        said = super().conclude(key, rows, span)
        return None if said is None else Finding("malicious", 0.9, fingerprint=key, title="many", numbers=said.numbers)


def thresholds() -> list[Detector]:
    """One of each."""
    return [Each(), Threshold(Limits(threshold=6)), Tumbling(Limits(threshold=3))]
