"""casetape: a stream of security observations becomes cases whose history cannot be lost.

What a plug-in needs: `from casetape import Detector, Finding, Observation`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemas.analysis import Analysis
    from schemas.observation import Observation
    from workers.detection.plugin import KEEP, AsyncDetector, Detector, Finding, NoParameters, detector
    from workers.detection.windowed import Conclusion, Measure, Rows, Span, Window, WindowedDetector

__all__ = [
    "KEEP",
    "Analysis",
    "AsyncDetector",
    "Conclusion",
    "Detector",
    "Finding",
    "Measure",
    "NoParameters",
    "Observation",
    "Rows",
    "Span",
    "Window",
    "WindowedDetector",
    "detector",
]

# a command that looks at cases needs no numpy, and every command imports this
_PLACES = ("schemas.analysis", "schemas.observation", "workers.detection.plugin", "workers.detection.windowed")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for place in map(import_module, _PLACES):
            if name in vars(place):
                return vars(place)[name]
    raise AttributeError(f"module {__name__} has no attribute {name}")
