"""Which detectors there are to run, and the services that run them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import redirect_stdout

from casetape.services.options import DETECTORS_NAME, merger_options, worker_options
from casetape.settings import Settings
from engines import topics
from engines.engine import Engine
from schemas.observation import TEXT
from workers.detection.plugin import Detector
from workers.detection.registry import create, discover, shared_out
from workers.detection.snapshot import body_of, entries
from workers.runtime.supervisor import Supervisor

GROUP = f"detect-{DETECTORS_NAME}"
"""The consumer group of the workers."""
MANIFESTS = f"detect/{GROUP}/{topics.OBSERVATIONS}/"
"""The names of the workers' manifests begin with this; the partition follows."""
RECORDER = "recorder"
SHOWN = 6
"""So many kinds are named in a sentence."""
Tell = Callable[[str], None]
"""Takes a sentence."""


def manifests_of(detectors_name: str) -> str:
    """What the names of a set's manifests begin with; the partition follows."""
    return f"detect/detect-{detectors_name}/{topics.OBSERVATIONS}/"


def wanted(settings: Settings, tell: Tell, refuse: Tell) -> list[Detector]:
    """The detectors of these settings. `refuse` is told of plug-ins that were refused. Raises SettingsError and
    PluginError."""
    # what a plug-in prints while it is imported is no part of our answer
    with redirect_stdout(sys.stderr):
        registry = discover(settings.plugins)
    for refused in registry.refused:
        refuse(f"detector {refused.name} was refused: {refused.reason} ({refused.source})")
    names, left_out = shared_out(registry, settings.detectors, asynchronous=False)
    if left_out:
        which = ", ".join(left_out)
        tell(f"left out here: {which}; `casetape worker --async` hosts asynchronous detectors, on Kafka and Redis")
    detectors = create(registry, names, settings.parameters)
    if not detectors:
        tell("there is no detector: records are kept, and nothing looks at them")
    return detectors


def say_what_is_new(
    engine: Engine, detectors: Sequence[Detector], tell: Tell, detectors_name: str = DETECTORS_NAME
) -> None:
    """A detector that comes later into a set has seen nothing of before, which nobody should have to find out."""
    saved = engine.store.manifests(manifests_of(detectors_name))
    bodies = [body_of(manifest) for manifest in saved.values() if manifest.offset]
    known = {entry for body in bodies for entry in body.detectors}
    new = [one.name for one in entries(detectors) if one not in known]
    if bodies and new:
        tell(f"new or changed here: {', '.join(new)}; `casetape run --replay` shows them what the tape has of before")


def unlooked(kinds: Collection[str], detectors: Sequence[Detector]) -> str | None:
    """A sentence where no detector looks at any of these kinds, else None. The recorder, which keeps texts, does not
    count; and texts alone need nobody."""
    choosy = [one for one in detectors if one.name != RECORDER]
    if not kinds or any(one.wants(kind) for one in choosy for kind in kinds) or kinds == {TEXT}:
        return None
    shown = sorted(kinds)
    more = f" and {len(shown) - SHOWN} more kinds" if len(shown) > SHOWN else ""
    return f"no detector looks at {', '.join(shown[:SHOWN])}{more}: `casetape detector list` shows what each looks at"


def start(
    supervisor: Supervisor,
    settings: Settings,
    engine: Engine,
    tell: Tell,
    *,
    bounded: bool,
    replay: str | None = None,
) -> None:
    """Starts the workers and the merger."""
    options = worker_options(settings, bounded=bounded, replay=replay)
    partitions = engine.log.partitions(topics.OBSERVATIONS)
    if settings.workers > partitions:
        surplus = settings.workers - partitions
        tell(f"{surplus} of {settings.workers} workers will idle: there are {partitions} partitions")
    for number in range(settings.workers):
        supervisor.start(f"worker {number + 1}", "casetape.services.worker", options)
    supervisor.start("merger", "casetape.services.merger", merger_options(settings))
