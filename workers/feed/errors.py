"""The feed's own errors, in the one hierarchy."""

from __future__ import annotations

from schemas.errors import InputError, UsageError


class UnknownKind(UsageError):
    """No reader fits the input."""

    code = "unknown_kind"


class CutRecord(InputError):
    """The last line has no line feed and cannot be read: it is still being written, or was cut."""

    code = "cut_record"


class InputDamaged(InputError):
    """The input could not be read to its end."""

    code = "input_damaged"


class UnknownSchema(InputError):
    """The record is none of the kind that was expected, nor a known wrapper around one."""

    code = "unknown_schema"
