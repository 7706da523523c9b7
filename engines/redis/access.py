"""Opening the store on Redis, and deleting it."""

from __future__ import annotations

from engines.redis.opening import connect
from engines.redis.options import RedisOptions
from engines.redis.store import RedisStore


def open_store(options: RedisOptions) -> RedisStore:
    """The store under a prefix; an empty one where there is none.

    Raises within `options.reach_seconds` EngineUnavailable where the server does not answer, AccessDenied where it
    refuses the user, EngineError where it is older than Redis 7.0 or Valkey 7.2; UsageError for options that do not
    fit.
    """
    return RedisStore(connect(options))


def delete_all(options: RedisOptions) -> None:
    """Deletes every key of the prefix, for good. Raises what `open_store` raises."""
    link = connect(options)
    try:
        for some in link.scan(link.keys.everything()):
            # one key a call: those of a cluster's server lie in many slots
            link.ask([("UNLINK", key) for key in some])
    finally:
        link.close()
