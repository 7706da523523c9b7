"""What a child process is told: settings, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from casetape.settings import Settings
from workers.feed.options import FeedOptions

DETECTORS_NAME = "default"
"""The name of the detector set of `run`: its consumer group is `detect-default`."""


def worker_options(settings: Settings, *, bounded: bool, replay: str | None = None) -> dict[str, Any]:
    """The options of a detection worker."""
    return {
        "home": str(settings.home),
        "session_seconds": settings.session,
        "bounded": bounded,
        "replay": replay,
        "detectors": settings.detectors,
        "plugins": None if settings.plugins is None else str(settings.plugins),
        "parameters": settings.parameters,
        "lateness": settings.lateness,
        "silence": settings.silence,
        "call": settings.call,
        "window_mib": settings.window_mib,
    }


def merger_options(settings: Settings) -> dict[str, Any]:
    """The options of a merger."""
    return {
        "home": str(settings.home),
        "session_seconds": settings.session,
        "policy": settings.policy.model_dump(),
        "policies": [rule.model_dump() for rule in settings.policies],
    }


def feeder_options(settings: Settings, follows: Sequence[str], options: FeedOptions) -> dict[str, Any]:
    """The options of a feeder that follows these files and folders."""
    return {
        "home": str(settings.home),
        "session_seconds": settings.session,
        "follows": list(follows),
        "options": options.chosen(),
    }
