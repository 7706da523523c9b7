"""The words for how bad something is, and their order."""

from __future__ import annotations

from typing import Literal, get_args

Verdict = Literal["benign", "unknown", "suspicious", "malicious"]
Severity = Literal["info", "low", "medium", "high", "critical"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""Worst last. `unknown` ranks above `benign`: not knowing is no all-clear."""
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_RANK: dict[str, int] = {verdict: rank for rank, verdict in enumerate(VERDICTS)}
_FLOORS: tuple[tuple[int, Severity], ...] = (
    (950_000, "critical"),
    (800_000, "high"),
    (600_000, "medium"),
    (400_000, "low"),
    (0, "info"),
)


def rank(verdict: Verdict) -> int:
    """0 for benign up to 3 for malicious."""
    return _RANK[verdict]


def severity_of(score: int) -> Severity:
    """The severity of a score in millionths: info, low from 0.40, medium 0.60, high 0.80, critical 0.95."""
    return next(severity for floor, severity in _FLOORS if score >= floor)
