"""casetape: a stream of security observations becomes cases whose history cannot be lost.

What a plug-in needs: `from casetape import Detector, Finding, Observation`.
"""

from schemas.analysis import Analysis
from schemas.observation import Observation
from workers.detection.plugin import KEEP, Detector, Finding, NoParameters, detector
from workers.detection.windowed import Conclusion, Measure, Rows, Span, Window, WindowedDetector

__all__ = [
    "KEEP",
    "Analysis",
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
