"""Which detectors there are: by entry point group `casetape.detectors`, and in a folder of `.py` files. One that cannot
be loaded is refused by name, with the reason; the others load."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from schemas.errors import PluginError, SettingsError, UsageError
from schemas.persons import PERSON, looks_like_a_person
from schemas.scales import LIMIT
from schemas.wording import first_fault, known_names, no_such, wrong
from workers.detection.plugin import CONCURRENCY, AsyncDetector, Detector, is_async
from workers.detection.windowed import WindowedDetector

GROUP = "casetape.detectors"
VERSION_LIMIT = 64
CONCURRENCY_LIMIT = 1_000
_NAME = re.compile(r"[\w.:-]{1,128}\Z")


class Found(NamedTuple):
    """A detector's class and where it came from: an entry point's target, or a file."""

    kind: type[Detector]
    source: str


class Refused(NamedTuple):
    """What could not be loaded, and why."""

    name: str
    source: str
    reason: str


class Registry(NamedTuple):
    """The detectors by name, and what was refused."""

    found: Mapping[str, Found]
    refused: Sequence[Refused]


def discover(plugins: Path | None = None) -> Registry:
    """Everything that is installed, and what lies in the folder `plugins`.

    Raises UsageError where that is no folder.
    """
    if plugins is not None and not plugins.is_dir():
        raise UsageError(f"the plug-in folder {plugins} does not exist or is no folder")
    found: dict[str, Found] = {}
    refused: list[Refused] = []
    files = sorted(plugins.glob("*.py")) if plugins is not None else []
    for name, source, kinds in (*_installed(), *map(_in_file, files)):
        if isinstance(kinds, str):
            refused.append(Refused(name, source, kinds))
            continue
        for kind in kinds:
            fault = _unfit(kind)
            if fault is None and kind.name in found:
                fault = f"another detector has this name: {found[kind.name].source}"
            if fault is None:
                found[kind.name] = Found(kind, source)
            else:
                refused.append(
                    Refused(kind.name if isinstance(kind.name, str) and kind.name else kind.__name__, source, fault)
                )
    return Registry(found, refused)


def create(
    registry: Registry, names: Sequence[str] | None, parameters: Mapping[str, Mapping[str, Any]]
) -> list[Detector]:
    """The chosen detectors (None: all), by name, each with its parameters from the settings.

    Raises UsageError for a name that is not there, SettingsError naming a parameter that does not fit, PluginError
    where a detector cannot be made of its parameters.
    """
    chosen = sorted(registry.found) if names is None else list(dict.fromkeys(names))
    for name in (*chosen, *parameters):
        if name not in registry.found:
            there = ", ".join(sorted(registry.found))
            raise UsageError(f"there is no detector `{name}`; there are: {there}")
    return [_create(registry.found[name].kind, parameters.get(name, {})) for name in chosen]


def shared_out(registry: Registry, names: Sequence[str] | None, *, asynchronous: bool) -> tuple[list[str], list[str]]:
    """Of the chosen detectors (None: all) the names of those that a host of asynchronous ones takes, or one of the
    others, and of those that it leaves out. A name that is not there is taken: `create` refuses it."""
    chosen = sorted(registry.found) if names is None else list(dict.fromkeys(names))
    left_out = [one for one in chosen if one in registry.found and is_async(registry.found[one].kind) != asynchronous]
    return [one for one in chosen if one not in left_out], left_out


def _create(kind: type[Detector], parameters: Mapping[str, Any]) -> Detector:
    try:
        settings: BaseModel = kind.Parameters.model_validate(dict(parameters))
    except ValidationError as error:
        raise SettingsError(f"detector {kind.name}{_said(kind.Parameters, error)}") from None
    try:
        return kind(settings)
    except (Exception, SystemExit) as error:
        raise PluginError(f"detector {kind.name} could not be made: {type(error).__name__}: {error}") from error


def _said(model: type[BaseModel], error: ValidationError) -> str:
    path, fault = first_fault(error)
    if fault["type"] == "extra_forbidden":
        return f": {no_such('parameter', path, known_names(model, path[:-1]))}"
    return f", parameter `{'.'.join(path)}`: {wrong(fault, model)}"


def _installed() -> Iterator[tuple[str, str, Sequence[type[Detector]] | str]]:
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            loaded = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's import may raise anything; it is refused by name
            yield point.name, point.value, f"its import raised {type(error).__name__}: {error}"
            continue
        fits = isinstance(loaded, type) and issubclass(loaded, Detector)
        yield point.name, point.value, [loaded] if fits else "it is not a subclass of Detector"


def _in_file(path: Path) -> tuple[str, str, Sequence[type[Detector]] | str]:
    name = f"casetape_plugin_{path.stem}"
    try:
        module = _imported(name, path)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's import may raise anything; it is refused by name
        sys.modules.pop(name, None)
        return path.stem, str(path), f"its import raised {type(error).__name__}: {error}"
    kinds = dict.fromkeys(one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Detector))
    mine = [kind for kind in kinds if kind.__module__ == name and not _is_base(kind, kinds)]
    return path.stem, str(path), mine or "it defines no subclass of Detector"


def _imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_base(kind: type[Detector], kinds: Iterable[type[Detector]]) -> bool:
    """Whether a class without a name is there for others of its file to build on."""
    return not kind.name and any(other is not kind and issubclass(other, kind) for other in kinds)


def _unfit(kind: type[Detector]) -> str | None:
    try:
        return _fault(kind) or _fault_in_making(kind)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what it declares may be anything; it is refused by name
        return f"its declaration raised {type(error).__name__}"


def _fault(kind: type[Detector]) -> str | None:
    # a subclass of str could say another thing each time it is asked
    if type(kind.name) is not str or not _NAME.match(kind.name):
        return "it has no usable name: 1 to 128 letters, digits and ._:- are one"
    if looks_like_a_person(kind.name):
        return f"it has a person's name: what begins with {PERSON} is said by people"
    if type(kind.version) is not str or len(kind.version) > VERSION_LIMIT:
        return f"its version is no text of at most {VERSION_LIMIT} characters"
    if not _texts(kind.kinds) or not kind.kinds:
        return "its kinds are not a sequence of kinds"
    if not (isinstance(kind.Parameters, type) and issubclass(kind.Parameters, BaseModel)):
        return "its Parameters are no pydantic model"
    if is_async(kind):
        return _fault_of_async(kind)
    if issubclass(kind, WindowedDetector):
        return _fault_of_window(kind)
    if inspect.iscoroutinefunction(kind.detect_batch):
        return "its detect_batch is an `async def`: only detect can be one"
    overrides = (kind.detect, kind.detect_batch) != (Detector.detect, Detector.detect_batch)
    return None if overrides else "it has neither detect nor detect_batch"


def _fault_of_async(kind: type[Detector]) -> str | None:
    if issubclass(kind, WindowedDetector):
        return "it has a window and an `async def detect`, where one of the two is due"
    if vars(AsyncDetector)["detect"] is kind.detect:
        return "it is asynchronous and has no detect"
    if not inspect.iscoroutinefunction(kind.detect):
        return "it is asynchronous, and its detect is no `async def`"
    if kind.detect_batch not in (Detector.detect_batch, AsyncDetector.detect_batch):
        return "it has an `async def detect` and a detect_batch, where one of the two is due"
    concurrency = getattr(kind, "concurrency", CONCURRENCY)
    if type(concurrency) is not int or not 1 <= concurrency <= CONCURRENCY_LIMIT:
        return f"its concurrency is no number of calls from 1 to {CONCURRENCY_LIMIT:,}"
    return None


def _fault_of_window(kind: type[WindowedDetector]) -> str | None:
    length, every = kind.window
    whole = all(type(one) is int and 0 < one < LIMIT for one in (length, every))
    if not whole or length % every:
        return "its window's length is not a whole multiple of every"
    if not _texts(kind.columns):
        return "its columns are not a sequence of names"
    if type(kind.minimum) is not int or kind.minimum < 1:
        return "its minimum is no number of rows"
    if not _counts(kind.early):
        return "its early counts are not a sequence of ascending numbers of rows"
    if kind.measure is WindowedDetector.measure or kind.conclude is WindowedDetector.conclude:
        return "it has a window but not both measure and conclude"
    return None


def _fault_in_making(kind: type[Detector]) -> str | None:
    """What is wrong with one made without parameters; one that needs some is tried when they are known."""
    try:
        parameters = kind.Parameters()
    except ValidationError:
        return None
    try:
        kind(parameters).parameters_digest  # noqa: B018 - whether there is one is the question
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's constructor may raise anything; it is refused by name
        return f"its constructor raised {type(error).__name__}: {error}"
    return None


def _texts(values: object) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and all(isinstance(one, str) for one in values)


def _counts(values: object) -> bool:
    return (
        isinstance(values, Sequence)
        and all(type(one) is int and one > 0 for one in values)
        and list(values) == sorted(set(values))
    )
