"""How a home is doing, for people and for whatever watches over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from casetape import standing
from casetape.counting import counts_in
from casetape.lagging import DETECT, Position, positions, readers
from casetape.run import now
from casetape.settings import Settings
from casetape.standing import Standing
from casetape.turn import UP, holder
from engines.engine import Engine
from schemas.scales import SECOND
from workers.detection.snapshot import Counts

SILENT_SECONDS = 60
"""An `up` that has noted nothing for so long does not look after its services."""

Health = Literal["down", "ok", "starting", "degraded"]


@dataclass(frozen=True, slots=True)
class Status:
    """`verb`: who holds the home's turn (`up`, `run`, or None). `standing`: what `up` noted last, None where no `up` is
    at work. `why`: what is wrong, in words, of a home that is degraded. `members`: by consumer group, how many are at
    work in it, wherever they are."""

    health: Health
    why: tuple[str, ...]
    verb: str | None
    standing: Standing | None
    counts: Counts
    positions: tuple[Position, ...]
    newest: int | None
    members: Mapping[str, int]

    @property
    def waiting(self) -> dict[str, int]:
        """By consumer group: how many records it has still to handle."""
        found: dict[str, int] = {}
        for one in self.positions:
            found[one.group] = found.get(one.group, 0) + one.waiting
        return found


def status_of(settings: Settings, engine: Engine) -> Status:
    """The status of an engine that is open for reading."""
    verb = holder(settings.home)
    noted = standing.read(engine.store) if verb == UP else None
    why = tuple(_wrong(noted, now())) if noted is not None else ()
    members = {group: engine.log.members(group) for groups in readers(engine).values() for group in groups}
    health = _health(verb, noted, why)
    if settings.engine == "cluster" and verb is None:
        why = tuple(f"nobody is at work in group {group}" for group, count in members.items() if not count)
        health = "down" if len(why) == len(members) else "degraded" if why else "ok"
    cases = engine.store.cases(None, order="updated", limit=1)
    return Status(
        health=health,
        why=why,
        verb=verb,
        standing=noted,
        counts=counts_in(engine, DETECT),
        positions=tuple(positions(engine)),
        newest=cases[0].updated_at if cases else None,
        members=members,
    )


def _health(verb: str | None, noted: Standing | None, why: tuple[str, ...]) -> Health:
    if verb != UP:
        return "down"
    if noted is None:
        return "starting"
    return "degraded" if why else "ok"


def _wrong(noted: Standing, moment: int) -> list[str]:
    silent = (moment - noted.at) // SECOND
    words = [] if silent <= SILENT_SECONDS else [f"process {noted.pid} has noted nothing for {silent:,} s"]
    words += [f"{one.name} is down ({one.last})" for one in noted.services if one.pid is None]
    words += [
        f"{one.group} makes no progress on {one.topic}[{one.partition}] for {one.seconds:.0f} s,"
        f" while {one.waiting:,} records wait"
        for one in noted.stuck
    ]
    return words if noted.trouble is None else [*words, noted.trouble]
