"""What is wrong with a value that someone chose, in words: the same for settings, parameters of detectors and options
of policies. The value itself is never shown."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

_WORDS = {
    "bool": "it must be true or false",
    "dict": "it must be a table",
    "finite": "it must be a finite number",
    "float": "it must be a number",
    "int": "it must be a whole number",
    "list": "it must be a list",
    "missing": "it is missing",
    "model": "it must be a table",
    "path": "it must be a path",
    "string": "it must be text",
    "tuple": "it must be a list",
}
"""By the first word of the validator's name of the fault."""
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}
_NUMBERS = {*_BOUNDS, "finite_number"}
_UNIT = re.compile(
    r"\((millionths|microseconds|milliseconds|seconds|minutes|hours|days|bytes|KiB|MiB)\b|"
    r"\bin (millionths|microseconds|milliseconds|seconds|minutes|hours|days|bytes|KiB|MiB)\b"
)
"""How a field's description says what its number counts."""


def first_fault(error: ValidationError) -> tuple[list[str], ErrorDetails]:
    """The path and the fault that a validation ended with first."""
    fault = error.errors(include_input=False, include_url=False)[0]
    return path_of(fault), fault


def path_of(fault: ErrorDetails) -> list[str]:
    """The names that lead to the faulty value."""
    return [str(part) for part in fault["loc"] if part != "[key]"]


def wrong(fault: ErrorDetails, model: type[BaseModel] | None = None) -> str:
    """What is wrong, in half a sentence, with the unit of its number where the description of its field in `model` says
    it. Not for names that there are not: see `meant`."""
    kind = fault["type"]
    context: Mapping[str, Any] = fault.get("ctx", {})
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if kind == "literal_error":
        return f"it must be one of {context['expected']}"
    if kind == "string_too_short":
        return "it is empty" if context["min_length"] == 1 else f"at least {context['min_length']} characters"
    if kind == "string_too_long":
        return f"it has more than {context['max_length']} characters"
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        said = f"it must be {words} {_number(context[name])}"
    else:
        said = _WORDS.get(kind.partition("_")[0], fault["msg"])
    counts = kind in _NUMBERS or kind.startswith(("int_", "float_"))
    unit = _unit(model, path_of(fault)) if model is not None and counts else ""
    return f"{said} ({unit})" if unit else said


def meant(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant instead of this one; empty where none is like it."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), "")


def no_such(what: str, path: Sequence[str], known: Iterable[str]) -> str:
    """That there is no such option or parameter, which was probably meant, and those that there are."""
    names = sorted(known)
    close = meant(path[-1], names)
    asked = f"; did you mean `{'.'.join([*path[:-1], close])}`?" if close else ";"
    there = f"{'It has' if close else 'it has'}: {', '.join(names)}" if names else f"it has no {what}s"
    return f"it has no {what} `{'.'.join(path)}`{asked} {there}"


def known_names(model: type[BaseModel], path: Iterable[str]) -> list[str]:
    """The names that a section takes; `path` leads from the model to it, through tables and lists."""
    kind: object = model
    for part in path:
        kind = _inside(kind, part)
    inner = _model_in(kind)
    return [] if inner is None else list(inner.model_fields)


def _inside(kind: object, part: str) -> object:
    """The type of what a value of this type holds under a name, a key or a number; None where that cannot be said."""
    if _is_model(kind):
        field = kind.model_fields.get(part)
        return None if field is None else field.annotation
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _inside(inner[0], part)
    if origin in (typing.Union, types.UnionType):
        return next((found for one in inner if (found := _inside(one, part)) is not None), None)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return inner[1]
    return inner[0] if isinstance(origin, type) and issubclass(origin, Sequence) else None


def _model_in(kind: object) -> type[BaseModel] | None:
    """The model that a value of this type is, or may be."""
    if _is_model(kind):
        return kind
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated or origin in (typing.Union, types.UnionType):
        return next((found for one in inner if (found := _model_in(one)) is not None), None)
    return None


def _is_model(kind: object) -> typing.TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _unit(model: type[BaseModel], path: Sequence[str]) -> str:
    kind: object = model
    field: FieldInfo | None = None
    for part in path:
        inner = _model_in(kind)
        field = field if inner is None else inner.model_fields.get(part)
        kind = _inside(kind, part)
    found = _UNIT.search((field.description if field is not None else None) or "")
    return "" if found is None else found[1] or found[2]


def _number(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else str(limit)
