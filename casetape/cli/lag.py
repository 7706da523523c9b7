"""`casetape lag`."""

from __future__ import annotations

from rich.table import Table

from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.render import count, table, when
from casetape.lagging import Position, positions
from casetape.run import now
from schemas.scales import SECOND, rfc3339


@verb
def lag(home: Home = None, as_json: AsJson = False) -> None:
    """Show what the services have still to handle: by consumer group and partition of the topic that it reads."""
    with reading(settings(home=home)) as engine:
        found = positions(engine)
    if as_json:
        print_json([_json(one) for one in found])
    else:
        out.print(_table(found))


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


def _table(found: list[Position]) -> Table:
    waiting = sum(one.waiting for one in found)
    title = f"{count(waiting, 'record')} to handle" if waiting else "everything is handled"
    numbers = ("end", "committed", "lag", "waiting", "behind s")
    made = table(title, "group", "partition", *numbers, "oldest", right=numbers, whole=("partition", "oldest"))
    moment = now()
    for one in found:
        behind = "" if one.oldest is None else f"{max(0, moment - one.oldest) // SECOND:,}"
        made.add_row(
            one.group,
            f"{one.at.topic}[{one.at.partition}]",
            f"{one.end:,}",
            f"{one.committed:,}",
            f"{one.lag:,}",
            f"{one.waiting:,}",
            behind,
            "" if one.oldest is None else when(one.oldest, whole=True),
        )
    return made
