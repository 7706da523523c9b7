"""Scaled integers, and the straight line between nothing and all."""

from __future__ import annotations

from workers.detectors.beaconing.scale import MILLION, millionths

__all__ = ["MILLION", "millionths", "ramp"]


def ramp(value: float, start: float, full: float) -> float:
    """0 up to `start`, 1 from `full`, a straight line between."""
    return min(1.0, max(0.0, (value - start) / (full - start)))
