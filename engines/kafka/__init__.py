"""The tape on Apache Kafka, for many machines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engines.kafka.log import KafkaLog
    from engines.kafka.opening import delete_all, open_log

__all__ = ["KafkaLog", "delete_all", "open_log"]
# its client takes a tenth of a second to import, which whoever only reads the options need not wait for
_WHERE = {"KafkaLog": "engines.kafka.log", "delete_all": "engines.kafka.opening", "open_log": "engines.kafka.opening"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(_WHERE[name]), name)
