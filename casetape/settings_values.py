"""Values of settings that need more than a type: what can be bounded or not, templates, and what a feed reads with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator
from pydantic_core import PydanticCustomError

from schemas.errors import RecordInvalid
from schemas.keys import valid_subject
from workers.feed.mapping import FieldMapping, filled_in, template_fault, time_format_fault
from workers.feed.zeek_columns import given_columns

Topic = Literal["observations", "versions", "states", "quarantine"]
FOREVER = "forever"
"""How a bound is lifted where there is no null, as in TOML."""
CENTURY = 36_500.0
"""Days. No bound in days is longer: what is kept longer is kept for ever."""
LARGEST = 1_000_000_000.0
"""MiB that a topic can be bounded to, and versions of a case: a petabyte is no bound."""


def _bound(value: Any) -> Any:
    """None for what means that there is no bound."""
    if isinstance(value, bool):
        raise PydanticCustomError("number", "it must be a number")
    text = value.strip().lower() if isinstance(value, str) else value
    return None if text in (FOREVER, "inf", float("inf")) else value


def _subject(template: str) -> str:
    fault = template_fault(template)
    if fault is None and not valid_subject(filled_in(template)):
        fault = "no subject can be made of it: 1 to 512 printable characters, no space at either end"
    if fault is not None:
        raise ValueError(fault)
    return template


def _columns(columns: str) -> str:
    try:
        given_columns(columns)
    except RecordInvalid as error:
        raise ValueError(str(error)) from None
    return columns


Days = Annotated[Annotated[float, Field(gt=0, le=CENTURY, allow_inf_nan=False)] | None, BeforeValidator(_bound)]
"""None: for ever."""
Mib = Annotated[Annotated[float, Field(gt=0, le=LARGEST, allow_inf_nan=False)] | None, BeforeValidator(_bound)]
"""None: any number."""
SubjectTemplate = Annotated[str, AfterValidator(_subject)]
Columns = Annotated[str, AfterValidator(_columns)]


class SettingsMapping(FieldMapping):
    """A mapping as the settings say it. Those that were recorded beside what was quarantined are not checked again, so
    that a wrong one can be replaced."""

    @field_validator("kind", "subject", mode="before")
    @classmethod
    def _template(cls, value: Any) -> Any:
        fault = template_fault(value) if isinstance(value, str) else None
        if fault is not None:
            raise ValueError(fault)
        return value

    @field_validator("subject")
    @classmethod
    def _of_subject(cls, value: str | None) -> str | None:
        return None if value is None else _subject(value)

    @field_validator("time_format")
    @classmethod
    def _readable(cls, value: str | None) -> str | None:
        fault = None if value is None else time_format_fault(value)
        if fault is not None:
            raise ValueError(fault)
        return value
