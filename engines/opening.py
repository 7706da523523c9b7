"""Opening whichever engine the settings name; options travel to child processes as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engines.engine import Engine
from engines.kafka.options import KafkaOptions
from engines.redis.options import RedisOptions
from engines.sqlite import open_engine as open_embedded


@dataclass(frozen=True)
class EmbeddedOptions:
    """One file in a home folder."""

    home: Path


@dataclass(frozen=True)
class ClusterOptions:
    """Two services that belong together."""

    kafka: KafkaOptions
    redis: RedisOptions


EngineOptions = EmbeddedOptions | ClusterOptions


def open_engine(
    options: EngineOptions,
    *,
    session_seconds: float = 30.0,
    create: bool = True,
    read_only: bool = False,
) -> Engine:
    """The engine of these options. `session_seconds`: how long a member of a group may be silent before its partitions
    move on. `create` and `read_only` are about a home folder: see `engines.sqlite.open_engine`. Raises what the engine
    raises."""
    if isinstance(options, EmbeddedOptions):
        return open_embedded(options.home, session_seconds=session_seconds, create=create, read_only=read_only)
    # its clients take a third of a second to import, which whoever has one machine need not wait for
    from engines.cluster import open_engine as open_cluster

    return open_cluster(options, session_seconds=session_seconds)


def to_json(options: EngineOptions) -> dict[str, Any]:
    """The options as JSON values, secrets too: for a child's standard input, and for nothing else."""
    if isinstance(options, EmbeddedOptions):
        return {"home": str(options.home)}
    return {"kafka": asdict(options.kafka), "redis": asdict(options.redis)}


def from_json(told: Mapping[str, Any]) -> EngineOptions:
    """The options that `to_json` told."""
    if "home" in told:
        return EmbeddedOptions(Path(told["home"]))
    return ClusterOptions(KafkaOptions(**told["kafka"]), RedisOptions(**told["redis"]))
