"""Which policies there are, and which one a case gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from merge.policies.common import COMMON, UNSET, CommonOptions
from merge.policies.contract import NoOptions, PolicyFunction
from merge.policies.noisy_or import noisy_or
from merge.policies.quorum import quorum
from merge.policies.trust_order import trust_order
from merge.policies.worst import worst
from schemas.canonical import Json
from schemas.errors import PluginError, SettingsError
from schemas.wording import known_names, no_such, path_of, wrong

GROUP = "casetape.policies"
"""The entry point group that policies are found by."""
BUILT_IN: Mapping[str, PolicyFunction] = {
    "worst": worst,
    "quorum": quorum,
    "noisy-or": noisy_or,
    "trust-order": trust_order,
}


class BoundPolicy(NamedTuple):
    """A policy with its validated options (JSON values): its own, which it is called with, and `common`, those that
    every policy takes."""

    name: str
    function: PolicyFunction
    options: Mapping[str, Json]
    common: CommonOptions = UNSET

    @property
    def recorded(self) -> dict[str, Json]:
        """The options as an assessment records them."""
        return {**self.options, **self.common.recorded}


WORST = BoundPolicy("worst", worst, {})


class Chosen(NamedTuple):
    """A policy as the settings name it."""

    name: str = "worst"
    options: Mapping[str, Json] = {}


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """The settings' choice: `by` (tenant or None for all, subject type or None for all), else `default`."""

    default: Chosen = field(default_factory=Chosen)
    by: Mapping[tuple[str | None, str | None], Chosen] = field(default_factory=dict)

    def of(self, tenant: str, subject: str) -> Chosen:
        """The choice for a case. A tenant's own goes before everyone's, a subject type's (what stands before the first
        `:` of the subject) before that of all types."""
        return next((self.by[place] for place in _places(tenant, subject) if place in self.by), self.default)


def _places(tenant: str, subject: str) -> tuple[tuple[str | None, str | None], ...]:
    kind, colon, _ = subject.partition(":")
    return ((tenant, kind), (tenant, None), (None, kind)) if colon else ((tenant, None),)


class Registry:
    """The policies that can be chosen, by name. An entry point is loaded when its policy is first asked for, so that
    one that does not load costs only itself (I9)."""

    def __init__(
        self, functions: Mapping[str, PolicyFunction] = BUILT_IN, found: Mapping[str, EntryPoint] = {}
    ) -> None:
        self._functions = dict(functions)
        self._found = dict(found)

    @classmethod
    def installed(cls) -> Registry:
        """The built-in policies and those of all installed packages. A package cannot take a built-in's name."""
        return cls(BUILT_IN, {one.name: one for one in entry_points(group=GROUP) if one.name not in BUILT_IN})

    @property
    def names(self) -> list[str]:
        """The names that can be chosen, sorted."""
        return sorted({*self._functions, *self._found})

    def bind(self, chosen: Chosen) -> BoundPolicy:
        """The chosen policy with its options checked and defaults filled in.

        Raises SettingsError naming an unknown policy or option, or one whose value does not fit; PluginError where its
        entry point cannot be loaded, or it has an option of its own that is called as one that every policy takes.
        """
        function = self._function(chosen.name)
        model: type[BaseModel] = getattr(function, "Options", NoOptions)
        for name in sorted(COMMON & model.model_fields.keys()):
            raise PluginError(f"policy `{chosen.name}` has an option `{name}` of its own, which every policy takes")
        own = {name: value for name, value in chosen.options.items() if name not in COMMON}
        try:
            common = CommonOptions.model_validate({name: chosen.options[name] for name in chosen.options.keys() - own})
            options = model.model_validate(own)
        except ValidationError as error:
            raise SettingsError(_said(chosen.name, model, error)) from None
        return BoundPolicy(chosen.name, function, options.model_dump(mode="json"), common)

    def _function(self, name: str) -> PolicyFunction:
        if name in self._functions:
            return self._functions[name]
        if name not in self._found:
            raise SettingsError(f"there is no policy `{name}`; known are {', '.join(self.names)}")
        try:
            loaded = self._found[name].load()
        except Exception as error:
            raise PluginError(f"policy `{name}` cannot be loaded: {type(error).__name__}: {error}") from error
        if not callable(loaded):
            raise PluginError(f"policy `{name}` is no function")
        function: PolicyFunction = loaded
        self._functions[name] = function
        return function


def _said(name: str, model: type[BaseModel], error: ValidationError) -> str:
    parts = []
    for fault in error.errors(include_url=False, include_input=False):
        path = path_of(fault)
        if fault["type"] == "extra_forbidden":
            known = known_names(model, path[:-1])
            parts.append(no_such("option", path, known if path[:-1] else {*known, *COMMON}))
        else:
            parts.append(f"option `{'.'.join(path) or 'options'}`: {wrong(fault, model)}")
    return f"policy `{name}`: {'; '.join(parts)}"


PolicyOf = Callable[[str, str], BoundPolicy]
"""(tenant, subject) -> the policy of that case."""


def policies(registry: Registry, choice: PolicyChoice) -> PolicyOf:
    """The lookup that a merger uses: every choice is checked now, so that a wrong setting is an error at the start.
    Raises what `Registry.bind` raises."""
    default = registry.bind(choice.default)
    bound = {place: _bound(registry, place, chosen) for place, chosen in choice.by.items()}

    def of(tenant: str, subject: str) -> BoundPolicy:
        return next((bound[place] for place in _places(tenant, subject) if place in bound), default)

    return of


def _bound(registry: Registry, place: tuple[str | None, str | None], chosen: Chosen) -> BoundPolicy:
    try:
        return registry.bind(chosen)
    except SettingsError as error:
        words = ("tenant", "subject type")
        of = ", ".join(f"{word} {one}" for word, one in zip(words, place, strict=True) if one is not None)
        raise SettingsError(f"setting `policies` ({of}): {error}") from None
