"""What can be wrong with what a person asks for."""

from __future__ import annotations

from schemas.errors import UsageError


class UnknownFingerprint(UsageError):
    """No analysis of the case has this fingerprint."""

    code = "unknown_fingerprint"


class RequestReused(UsageError):
    """The same request id was given to another request before: give this one an id of its own."""

    code = "request_reused"
