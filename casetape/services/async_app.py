"""The asynchronous worker for Faust's own command: `faust -A casetape.services.async_app worker`.

Settings come from `CASETAPE_*` and `casetape.toml` as everywhere. Nobody starts this process again by itself, as
`casetape worker --async` does: let your own supervisor do so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from casetape.opening import check_topics, working
from casetape.services.async_starting import async_options, wanted_async
from casetape.services.async_worker import host_options, leave
from casetape.services.options import set_name
from casetape.settings import Settings, load
from engines.engine import Engine
from engines.opening import ClusterOptions
from schemas.errors import CasetapeError, UsageError
from workers.asynchronous.application import Application
from workers.asynchronous.host import AsyncHost
from workers.asynchronous.watchdog import Stuck
from workers.runtime.child import FAILED


def __getattr__(name: str) -> Application:
    # made when Faust asks for it: whoever merely imports this needs no settings
    if name != "app":
        raise AttributeError(name)
    try:
        return _application()
    except CasetapeError as error:
        sys.exit(str(error))


@cache
def _application() -> Application:
    settings = load({})
    engines = settings.engine_options()
    if not isinstance(engines, ClusterOptions):
        raise UsageError("asynchronous detectors are for the cluster engine: set CASETAPE_ENGINE=cluster")
    options = host_options(async_options(settings, set_name(settings.detectors)))
    return Application(AsyncHost(_opened(settings), wanted_async(settings, _say, _say), options), engines.kafka, _stuck)


@contextmanager
def _opened(settings: Settings) -> Iterator[Engine]:
    with working(settings) as engine:
        check_topics(engine, settings)
        yield engine


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


def _stuck(error: Stuck) -> None:
    _say(str(error))
    leave(FAILED)
