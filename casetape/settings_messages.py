"""What is wrong with a setting, in words: its key, the fault, and where the value came from."""

from __future__ import annotations

import difflib
import os
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_WORDS = {
    "bool": "it must be true or false",
    "dict": "it must be a table",
    "float": "it must be a number",
    "finite": "it must be a finite number",
    "int": "it must be a whole number",
    "model": "it must be a table",
    "path": "it must be a path",
    "string": "it must be text",
    "tuple": "it must be a list",
    "missing": "it is missing",
}
"""By the first word of the validator's name of the fault."""
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def fault_words(model: type[BaseModel], error: ValidationError, given: Iterable[str], prefix: str, file: str) -> str:
    """A sentence about the first fault of settings of this model. `given` are the names of the flags; `prefix` is that
    of the variables, `file` the settings file's name, or empty where there is none."""
    fault = error.errors(include_input=False, include_url=False)[0]
    path = [str(part) for part in fault["loc"] if part != "[key]"]
    came = origin(path, given, prefix, file)
    if fault["type"] == "extra_forbidden":
        return unknown(path, known_names(model, path[:-1]), came)
    return f"setting `{'.'.join(path)}`{f' ({came})' if came else ''}: {_wrong(fault)}"


def unknown(path: list[str], known: Iterable[str], came: str) -> str:
    """A sentence about a setting that there is not, with the one that was probably meant."""
    close = difflib.get_close_matches(path[-1], list(known), n=1)
    meant = f"; did you mean `{'.'.join([*path[:-1], *close])}`?" if close else ""
    return f"there is no setting `{'.'.join(path)}`{f' ({came})' if came else ''}{meant}"


def origin(path: list[str], given: Iterable[str], prefix: str, file: str) -> str:
    """Where the value at this path came from: a flag, a variable or the file, the first of them that names it."""
    if path[0] in given:
        return f"--{path[0]}"
    variable = prefix + path[0].upper()
    exact = prefix + "__".join(path).upper()
    there = {name.upper(): name for name in os.environ}
    for name in (exact, variable):
        if name in there:
            return f"variable {there[name]}"
    return file


def known_names(model: type[BaseModel], path: list[str]) -> list[str]:
    """The names that a section takes; `path` leads from the model to it."""
    kind: object = model
    for part in path:
        if part.isdigit():
            continue
        fields = getattr(kind, "model_fields", {})
        if part not in fields:
            return []
        kind = _model_in(fields[part].annotation)
    return list(getattr(kind, "model_fields", {}))


def unreadable(path: Path, error: Exception) -> str:
    """A sentence about a settings file that cannot be read or is no TOML."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the settings file {path} cannot be read: {reason}"


def _model_in(annotation: object) -> object:
    """The model that a field holds, alone or many of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_in(one) for one in typing.get_args(annotation))
    return next((one for one in inner if one is not None), None)


def _wrong(fault: ErrorDetails) -> str:
    kind = fault["type"]
    context: Mapping[str, Any] = fault.get("ctx", {})
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        return f"it must be {words} {context[name]:g}"
    if kind == "literal_error":
        return f"it must be one of {context['expected']}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return "lower-case letters, digits and hyphens, at most 63, no hyphen first"
    return _WORDS.get(kind.partition("_")[0], fault["msg"])
