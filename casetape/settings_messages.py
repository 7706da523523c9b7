"""What is wrong with a setting, in words: its key, the fault, and where the value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from schemas.wording import first_fault, known_names, meant, wrong


def fault_words(model: type[BaseModel], error: ValidationError, given: Iterable[str], prefix: str, file: str) -> str:
    """A sentence about the first fault of settings of this model. `given` are the names of the flags; `prefix` is that
    of the variables, `file` the settings file's name, or empty where there is none."""
    path, fault = first_fault(error)
    came = origin(path, given, prefix, file)
    if fault["type"] == "extra_forbidden":
        return unknown(path, known_names(model, path[:-1]), came)
    return f"setting `{'.'.join(path)}`{f' ({came})' if came else ''}: {_wrong(fault, model)}"


def unknown(path: list[str], known: Iterable[str], came: str) -> str:
    """A sentence about a setting that there is not, with the one that was probably meant."""
    close = meant(path[-1], known)
    asked = f"; did you mean `{'.'.join([*path[:-1], close])}`?" if close else ""
    return f"there is no setting `{'.'.join(path)}`{f' ({came})' if came else ''}{asked}"


def no_json(prefix: str, last: str, value: str) -> str:
    """A sentence about a variable below a setting, of which the last step and the value are known."""
    ends = f"__{last}".upper()
    named = (name for name, one in os.environ.items() if name.upper().endswith(ends) and one == value)
    variable = next((name for name in named if name.upper().startswith(prefix)), prefix + "…" + ends)
    key = ".".join(variable[len(prefix) :].lower().split("__"))
    return f"setting `{key}` (variable {variable}): it must be JSON"


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


def unreadable(path: Path, error: Exception) -> str:
    """A sentence about a settings file that cannot be read or is no TOML."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"the settings file {path} cannot be read: {reason}"


def _wrong(fault: ErrorDetails, model: type[BaseModel]) -> str:
    if fault["type"] == "string_pattern_mismatch":
        if ":" in fault["ctx"]["pattern"]:
            return "it must be host:port"
        return "lower-case letters, digits and hyphens, at most 63, no hyphen first"
    return wrong(fault, model)
