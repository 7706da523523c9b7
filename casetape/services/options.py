"""What a child process is told: settings, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from casetape.settings import Settings
from engines.opening import to_json
from workers.feed.options import FeedOptions

DETECTORS_NAME = "default"
"""The name of the detector set of `run` and `up`: its consumer group is `detect-default`."""


def set_name(detectors: Sequence[str] | None) -> str:
    """The name of a detector set: each set reads in a consumer group of its own."""
    return DETECTORS_NAME if detectors is None else "+".join(sorted(set(detectors)))


def worker_options(
    settings: Settings, *, bounded: bool, replay: str | None = None, detectors_name: str = DETECTORS_NAME
) -> dict[str, Any]:
    """The options of a detection worker."""
    return {
        "engine": to_json(settings.engine_options()),
        "session_seconds": settings.session,
        "bounded": bounded,
        "replay": replay,
        "detectors_name": detectors_name,
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
        "engine": to_json(settings.engine_options()),
        "session_seconds": settings.session,
        "policy": settings.policy.model_dump(),
        "policies": [rule.model_dump() for rule in settings.policies],
    }


def feeder_options(settings: Settings, follows: Sequence[str], options: FeedOptions) -> dict[str, Any]:
    """The options of a feeder that follows these files and folders."""
    return {
        "engine": to_json(settings.engine_options()),
        "session_seconds": settings.session,
        "follows": list(follows),
        "options": options.chosen(),
    }
