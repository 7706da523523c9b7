"""Which asynchronous detectors there are to run, and the options of the processes that host them."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

from casetape.services.options import worker_options
from casetape.services.starting import Tell
from casetape.settings import Settings
from schemas.errors import UsageError
from workers.detection.plugin import Detector
from workers.detection.registry import create, discover, shared_out


def wanted_async(settings: Settings, tell: Tell, refuse: Tell) -> list[Detector]:
    """The asynchronous detectors of these settings; `tell` is told of others that were chosen by name, `refuse` of
    plug-ins that were refused. Raises SettingsError and PluginError, and UsageError where there is none."""
    # what a plug-in prints while it is imported is no part of our answer
    with redirect_stdout(sys.stderr):
        registry = discover(settings.plugins)
    for refused in registry.refused:
        refuse(f"detector {refused.name} was refused: {refused.reason} ({refused.source})")
    names, left_out = shared_out(registry, settings.detectors, asynchronous=True)
    if settings.detectors is not None and left_out:
        tell(f"left out here: {', '.join(left_out)}; `casetape worker` without --async hosts what is not asynchronous")
    detectors = create(registry, names, settings.parameters)
    if not detectors:
        raise UsageError(
            "there is no asynchronous detector to run: name a folder of plug-in files with --plugins, or choose others"
            " with --detectors; `casetape detector list` shows what there is"
        )
    return detectors


def async_options(settings: Settings, detectors_name: str) -> dict[str, Any]:
    """The options of an asynchronous worker."""
    return {**worker_options(settings, bounded=False, detectors_name=detectors_name), "stuck": settings.stuck}
