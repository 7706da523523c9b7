"""An asynchronous worker as a process of its own."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn

from engines.engine import Engine
from engines.opening import ClusterOptions, from_json
from schemas.errors import UsageError
from workers.asynchronous.application import Application
from workers.asynchronous.host import AsyncHost
from workers.asynchronous.options import AsyncOptions
from workers.asynchronous.serve import serve
from workers.asynchronous.watchdog import Stuck
from workers.detection.plugin import Detector
from workers.detection.registry import create, discover, shared_out
from workers.runtime.child import FAILED, Parent, child


def chosen(options: Mapping[str, Any]) -> list[Detector]:
    """The asynchronous detectors of these options. Raises UsageError where there is none."""
    registry = discover(None if options["plugins"] is None else Path(options["plugins"]))
    names, _ = shared_out(registry, options["detectors"], asynchronous=True)
    detectors = create(registry, names, options["parameters"])
    if not detectors:
        raise UsageError("there is no asynchronous detector among those chosen: see `casetape detector list`")
    return detectors


def host_options(options: Mapping[str, Any]) -> AsyncOptions:
    """How the host works, by these options."""
    calling = options.get("calling")
    return AsyncOptions(
        detectors_name=options["detectors_name"],
        session=options["session_seconds"],
        call=options["call"],
        stuck=options["stuck"],
        calling=None if calling is None else Path(calling),
        suspects=options.get("suspects", frozenset()),
    )


def work(engine: Engine, options: Mapping[str, Any], parent: Parent) -> None:
    """Hosts the detectors until the parent says enough."""

    def stuck(error: Stuck) -> None:
        parent.say(event="error", code=error.code, retriable=error.retriable, message=str(error))
        # whatever hangs would hang on in an orderly end; what is not saved comes again
        leave(FAILED)

    engines = from_json(options["engine"])
    if not isinstance(engines, ClusterOptions):
        raise UsageError("asynchronous detectors are for the cluster engine (setting `engine`)")
    # what Faust has to say reaches people as one error of ours
    for name in ("aiokafka", "faust", "mode", "workers.asynchronous"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    host = AsyncHost(nullcontext(engine), chosen(options), host_options({**options, "suspects": parent.suspects}))
    parent.listen()
    serve(Application(host, engines.kafka, stuck), parent, parent.ready)


def leave(code: int) -> NoReturn:
    """Ends the process without waiting for its threads, which may be inside a call to a server that does not answer."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(child(work))
