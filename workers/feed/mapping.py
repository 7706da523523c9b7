"""A mapping: where the records of some JSON lines have their time, whom they are about, and what they are called."""

from __future__ import annotations

import datetime as dt
import fnmatch
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from schemas.observation import TEXT

KIND = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,127}\Z")
"""What records can be called."""
TIMES = ("@timestamp", "timestamp", "ts", "eventTime", "event_time", "time", "datetime", "date", "created_at")
"""Where a time is looked for when nothing else is said: the first of these that is there counts."""

_PLACE = re.compile(r"\{[^{}]+\}")
_SAMPLE = dt.datetime(2023, 8, 9, 14, 5, 6, 123_456, dt.UTC)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Several = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_several)]
"""One text or a list of them."""


def filled_in(template: str) -> str:
    """A template with an `x` in each of its places."""
    return _PLACE.sub("x", template)


def template_fault(template: str) -> str | None:
    """What is wrong with a template's braces, in words; None where nothing is. Characters are counted from 1."""
    if not template.strip():
        return "it is empty"
    opened = 0
    for at, character in enumerate(template, 1):
        if character == "{":
            if opened:
                break
            opened = at
        elif character == "}":
            if not opened:
                return f"the brace at character {at} closes none"
            if not template[opened : at - 1].strip():
                return f"the braces at character {opened} are empty: the name of a field stands in them"
            opened = 0
    return f"the brace at character {opened} is not closed" if opened else None


def time_format_fault(form: str) -> str | None:
    """Why `strptime` cannot read times of this form, in words; None where it can."""
    if "%" not in form.replace("%%", ""):
        return "it says nowhere what is read: %Y stands for the year, as in Python's strptime"
    if form != form.strip():
        return "it has space at an end, which is taken off the times before they are read"
    try:
        dt.datetime.strptime(_SAMPLE.strftime(form).strip(), form)
    except (ValueError, re.error) as error:
        reason = "a directive stands in it twice" if isinstance(error, re.error) else _reason(error)
        return f"strptime cannot read it: {reason}"
    return None


def _reason(error: ValueError) -> str:
    """What strptime says, but for the sample, which nobody wrote."""
    said = str(error)
    return "it does not read what it writes" if said.startswith(("time data", "unconverted")) else said


class FieldMapping(BaseModel):
    """One mapping. Paths lead through objects with dots; templates hold paths in braces.

    `files`: patterns of file names whose lines are read with it, where the kind is not given. `kind`: what the
    records are called, a template; by default `json.<mapping>`. `time`: paths, the first that is there counts.
    `time_unit`: of times that are numbers; by default seconds, and finer units are told by their size. `time_format`:
    of times that are text, as of `strptime`; by default ISO 8601. `subject`: a template. `origin`: a path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Several = ()
    kind: str | None = None
    time: Several = TIMES
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    time_format: str | None = Field(default=None, min_length=1)
    subject: str | None = Field(default=None, min_length=1, max_length=512)
    origin: str | None = Field(default=None, min_length=1)

    @field_validator("kind")
    @classmethod
    def _kind(cls, value: str | None) -> str | None:
        if value is not None and (value == TEXT or not KIND.match(filled_in(value))):
            raise PydanticCustomError("kind", "it must be a kind, such as okta.login or okta.{eventType}, and not text")
        return value

    def fits(self, name: str) -> bool:
        """Whether the patterns name this file (without its folder)."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.files)

    def chosen(self) -> dict[str, Any]:
        """What differs from the defaults, as JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)
