"""The plug-in API: what a detector declares and what it returns."""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Final, Literal, cast

from pydantic import BaseModel, ConfigDict

from schemas.canonical import canonical_bytes
from schemas.digests import PARAMETERS, digest
from schemas.errors import PluginError
from schemas.observation import Observation
from schemas.verdicts import Verdict


class NoParameters(BaseModel):
    """The parameters of a detector that has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Keep(Enum):
    KEEP = "keep"


KEEP: Final = _Keep.KEEP
"""Returned by a detector for an observation that belongs into its case though there is nothing to say about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector says. The worker completes it to an Analysis: who said it, of which case, on what evidence, when.

    `score` and `confidence` are 0..1. `fingerprint` says what it is about: of one detector and fingerprint the newest
    is current; left out, the detector's `fingerprint(observation)` is asked. `title` likewise. `numbers` are integers
    whose scale the detector documents. `at` is event time in microseconds; left out, that of the newest evidence.
    """

    verdict: Verdict
    score: float
    confidence: float = 1.0
    fingerprint: str | None = None
    title: str | None = None
    text: str = ""
    target: str | None = None
    techniques: Sequence[str] = ()
    numbers: dict[str, int] = field(default_factory=dict)
    at: int | None = None


Said = Finding | Literal[_Keep.KEEP] | None
Answer = Said | Iterable[Finding]


class Detector:
    """The base of a detector that looks at one observation at a time. Give it a name, a version and the kinds it wants
    (`*` and `?` match: `zeek.*`), and override `detect` or `detect_batch`."""

    name: ClassVar[str] = ""
    version: ClassVar[str] = "1"
    kinds: ClassVar[Sequence[str]] = ("*",)
    Parameters: ClassVar[type[BaseModel]] = NoParameters

    def __init__(self, parameters: BaseModel | None = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    def detect(self, observation: Observation) -> Answer | Coroutine[Any, Any, Answer]:
        """What it says about this observation: nothing (None), findings, or KEEP. As an `async def` it makes the
        detector an asynchronous one: see AsyncDetector."""
        raise PluginError(f"detector {self.name} has neither detect nor detect_batch")

    def detect_batch(self, observations: Sequence[Observation]) -> Sequence[Answer]:
        """One answer per observation, in their order."""
        # whoever hosts this one has seen that it is not asynchronous
        return [cast(Answer, self.detect(observation)) for observation in observations]

    def title(self, observation: Observation) -> str:
        """The title of a finding that brought none."""
        return self.name

    def fingerprint(self, observation: Observation) -> str:
        """The fingerprint of a finding that brought none."""
        return f"{self.name} {observation.kind}"

    def wants(self, kind: str) -> bool:
        """Whether it looks at observations of this kind."""
        return any(fnmatch.fnmatchcase(kind, pattern) for pattern in self.kinds)

    @property
    def parameters_digest(self) -> str:
        """Names its parameters in every analysis."""
        return digest(PARAMETERS, canonical_bytes(self.parameters.model_dump(mode="json")))


CONCURRENCY = 8
"""So many calls of an asynchronous detector are under way at a time in one process, unless it says otherwise."""


class AsyncDetector(Detector):
    """The base of a detector that waits (for a model, a look-up service) rather than computes: `async def detect`. Up
    to `concurrency` of its calls are under way at a time in one process. All share one event loop with everything else
    there: it awaits, and never blocks. `casetape worker --async` hosts it."""

    concurrency: ClassVar[int] = CONCURRENCY

    async def detect(self, observation: Observation) -> Answer:
        """What it says about this observation: nothing (None), findings, or KEEP."""
        raise PluginError(f"detector {self.name} has no detect")

    def detect_batch(self, observations: Sequence[Observation]) -> Sequence[Answer]:
        """An asynchronous detector is shown one observation at a time, by a host that awaits its answer."""
        raise PluginError(f"detector {self.name} is asynchronous: `casetape worker --async` hosts it")


def is_async(kind: type[Detector]) -> bool:
    """Whether detectors of this class are asynchronous: by their base, or since their `detect` is an `async def`."""
    return issubclass(kind, AsyncDetector) or inspect.iscoroutinefunction(kind.detect)


def detector(
    name: str, *, version: str = "1", kinds: Sequence[str] = ("*",)
) -> Callable[[Callable[[Observation], Answer | Awaitable[Answer]]], type[Detector]]:
    """Makes a detector of a function from an observation to what it says; of an `async def`, an asynchronous one."""

    def make(function: Callable[[Observation], Answer | Awaitable[Answer]]) -> type[Detector]:
        def detect(self: Detector, observation: Observation) -> Answer | Awaitable[Answer]:
            return function(observation)

        async def awaited(self: Detector, observation: Observation) -> Answer:
            return await function(observation)  # type: ignore[misc, no-any-return]  # it is an `async def`, as was asked

        waits = inspect.iscoroutinefunction(function)
        method: Callable[..., Any] = awaited if waits else detect
        body = {"name": name, "version": version, "kinds": tuple(kinds), "detect": method, "__doc__": function.__doc__}
        base = AsyncDetector if waits else Detector
        return type(function.__name__, (base,), {**body, "__module__": function.__module__})

    return make
