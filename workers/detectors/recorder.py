"""The recorder: puts observations that must always be kept into their case, without saying anything about them."""

from __future__ import annotations

import fnmatch

from pydantic import BaseModel, ConfigDict

from schemas.observation import Observation
from workers.detection.plugin import KEEP, Answer, Detector


class RecorderParameters(BaseModel):
    """Which kinds are kept (`*` and `?` match)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep: tuple[str, ...] = ("text",)


class Recorder(Detector):
    """Keeps every observation of the chosen kinds."""

    name = "recorder"
    version = "1"
    Parameters = RecorderParameters

    def wants(self, kind: str) -> bool:
        """Only what is kept."""
        assert isinstance(self.parameters, RecorderParameters)  # noqa: S101 - narrows the type that __init__ made sure of
        return any(fnmatch.fnmatchcase(kind, pattern) for pattern in self.parameters.keep)

    def detect(self, observation: Observation) -> Answer:
        """Always KEEP."""
        return KEEP
