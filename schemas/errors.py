"""The one hierarchy of errors. A class's docstring is its default message; `code` is stable, `retriable` says whether
the same call may succeed later without anything being changed."""

from __future__ import annotations

from typing import ClassVar


class CasetapeError(Exception):
    """Something casetape could not do."""

    code: ClassVar[str] = "error"
    retriable: ClassVar[bool] = False

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class UsageError(CasetapeError):
    """The request itself is wrong: nothing was read or written."""

    code = "usage"


class SettingsError(UsageError):
    """A setting is unknown or its value does not fit."""

    code = "settings"


class InputError(CasetapeError):
    """A piece of input is not what it claims to be; it goes to quarantine with this reason."""

    code = "input"


class NotCanonical(InputError):
    """The value holds something that JSON cannot carry exactly (NaN, an infinity, half a surrogate pair)."""

    code = "not_canonical"


class RecordInvalid(InputError):
    """A record does not fit its schema; the message names the field's path, never its value."""

    code = "record_invalid"


class UnknownType(InputError):
    """A record's schema version or type is not known here, or is missing."""

    code = "unknown_type"


class IdMismatch(InputError):
    """A record's id is not the digest of its content: it was edited, or its producer computes ids differently."""

    code = "id_mismatch"


class TenantMismatch(InputError):
    """A record's key and body name different cases; a tenant's data stays with it."""

    code = "tenant_mismatch"


class RecordTooLarge(InputError):
    """A record is larger than the stated limit."""

    code = "record_too_large"


class EngineError(CasetapeError):
    """The event log or the state store could not do what was asked."""

    code = "engine"


class EngineUnavailable(EngineError):
    """The store or log does not answer now; nothing was changed, try again."""

    code = "engine_unavailable"
    retriable = True


class StorageFull(EngineUnavailable):
    """There is no room left where the home folder lies; nothing half-written was kept. Make room and run again."""

    code = "storage_full"


class StorageReadOnly(EngineError):
    """The home folder cannot be written. Choose another with --home, or make it writable, and run again."""

    code = "storage_read_only"


class AccessDenied(EngineError):
    """The store or log refuses the user: check name, password and rights."""

    code = "access_denied"


class StoreBehind(EngineError):
    """The store has lost writes that it had acknowledged: run `casetape rebuild`."""

    code = "store_behind"


class Fenced(EngineError):
    """This member no longer owns the partition: another took it over, and its own work there is void."""

    code = "fenced"


class Lost(EngineError):
    """Another writer moved the mark first; read again and repeat."""

    code = "lost_race"
    retriable = True


class UnknownTopic(EngineError):
    """There is no such topic."""

    code = "unknown_topic"


class UnknownCase(UsageError):
    """There is no such case."""

    code = "unknown_case"


class UnknownVersion(UsageError):
    """The case has no such version."""

    code = "unknown_version"


class PluginError(CasetapeError):
    """A plug-in could not be loaded or did not do what its contract says."""

    code = "plugin"


class VerificationFailed(CasetapeError):
    """The chain does not verify."""

    code = "verification_failed"
