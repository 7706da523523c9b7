"""Scaled integers: fractions are kept in millionths."""

from __future__ import annotations

from typing import Final

MILLION: Final = 1_000_000


def millionths(value: float) -> int:
    """`value` in millionths, to the nearest."""
    return round(value * MILLION)
