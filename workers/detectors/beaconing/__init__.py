"""Beaconing: a machine that calls somewhere with a regularity that people and chance do not have."""

from workers.detectors.beaconing.detector import Beaconing

__all__ = ["Beaconing"]
