"""Redis's errors as casetape's, with what to do. No message holds an argument of a command, and none a password."""

from __future__ import annotations

from redis import exceptions

from schemas.errors import AccessDenied, EngineError, EngineUnavailable, StorageFull

_PASSING = (
    *("LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "READONLY", "UNBLOCKED", "NOREPLICAS", "BUSY"),
    "Redis Cluster cannot be connected",
)
"""What another attempt, a moment later, need not get: a server starts, its role has changed, or a cluster is away."""
_FULL = ("OOM", "MISCONF")
_DENIED = ("NOAUTH", "WRONGPASS", "NOPERM")
_NO_RIGHT_IN_SCRIPT = "can't run this command"


def is_denial(error: Exception) -> bool:
    """Whether Redis refuses the user."""
    denied = (exceptions.AuthenticationError, exceptions.AuthorizationError, exceptions.NoPermissionError)
    return isinstance(error, denied) or str(error).startswith(_DENIED) or _NO_RIGHT_IN_SCRIPT in str(error)


def is_passing(error: Exception) -> bool:
    """Whether the same call may get another answer in a moment."""
    if is_denial(error):
        return False
    passing = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ReadOnlyError, exceptions.TryAgainError)
    more = (exceptions.ClusterDownError, exceptions.SlotNotCoveredError, exceptions.BusyLoadingError, OSError)
    return isinstance(error, passing + more) or str(error).startswith(_PASSING)


def translated(error: Exception, where: str) -> EngineError:
    """What an error of the Redis at `where` (host:port) means to casetape."""
    words = _words(error)
    if is_denial(error):
        return AccessDenied(f"Redis at {where} refuses the user ({words}): check `redis.user`, its password and rights")
    if isinstance(error, exceptions.OutOfMemoryError) or words.startswith(_FULL):
        return StorageFull(f"Redis at {where} has no room or cannot write ({words}). Make room there and run again")
    if is_passing(error):
        return unavailable(error, where)
    return EngineError(f"Redis at {where}: {words}")


def unavailable(error: Exception, where: str) -> EngineUnavailable:
    """That it does not answer."""
    return EngineUnavailable(f"Redis at {where} does not answer: {_words(error)}. Start it, or correct `redis.url`")


def _words(error: Exception) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
