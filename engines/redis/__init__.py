"""The store on Redis 7.0 or newer, or Valkey: one server, or a cluster."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engines.redis.access import delete_all, open_store
    from engines.redis.store import RedisStore

__all__ = ["RedisStore", "delete_all", "open_store"]
# its client takes a tenth of a second to import, which whoever only reads the options need not wait for
_WHERE = {
    "RedisStore": "engines.redis.store",
    "delete_all": "engines.redis.access",
    "open_store": "engines.redis.access",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(_WHERE[name]), name)
