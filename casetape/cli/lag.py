"""`casetape lag`."""

from __future__ import annotations

from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.render import cell, count, span, when
from casetape.lagging import Position, positions
from casetape.run import now
from schemas.scales import SECOND, rfc3339

_COLUMNS = (
    Column("group", whole=True),
    Column("partition", whole=True),
    Column("waiting", right=True, whole=True),
    Column("lag", right=True, whole=True, goes=2),
    Column("committed", right=True, whole=True, goes=3),
    Column("end", right=True, whole=True, goes=4),
    Column("behind", right=True, whole=True),
    Column("oldest", whole=True, goes=1),
)


@verb
def lag(home: Home = None, as_json: AsJson = False) -> None:
    """Show what the services have still to handle: by consumer group and partition of the topic that it reads.
    The table has the partitions that have something to handle; --json has all."""
    with reading(settings(home=home)) as engine:
        found = positions(engine)
    if as_json:
        print_json([_json(one) for one in found])
    else:
        _print(found, now())


def _json(one: Position) -> dict[str, object]:
    return {
        "group": one.group,
        "topic": one.at.topic,
        "partition": one.at.partition,
        "start": one.start,
        "end": one.end,
        "committed": one.committed,
        "lag": one.lag,
        "waiting": one.waiting,
        "oldest": None if one.oldest is None else rfc3339(one.oldest),
    }


def _print(found: list[Position], moment: int) -> None:
    """Only the partitions with records to handle: a home has many, and most of them wait for nothing."""
    busy = [one for one in found if one.waiting]
    idle = len(found) - len(busy)
    if not busy:
        at_rest = f": {_partitions(idle)}" if idle else ""
        out.print(cell(f"everything is handled{at_rest}"))
        return
    waiting = sum(one.waiting for one in busy)
    rows = [_row(one, moment) for one in busy]
    out.print(fitted(f"{count(waiting, 'record')} to handle", _COLUMNS, rows, out.width))
    if idle:
        out.print(cell(f"and {_partitions(idle)}", "dim"))


def _partitions(idle: int) -> str:
    return f"{count(idle, 'partition')} idle, with nothing to handle"


def _row(one: Position, moment: int) -> list[str]:
    behind = "" if one.oldest is None else span(max(0, moment - one.oldest) / SECOND)
    numbers = (f"{number:,}" for number in (one.waiting, one.lag, one.committed, one.end))
    return [one.group, f"{one.at.topic}[{one.at.partition}]", *numbers, behind, when(one.oldest, whole=True)]
