"""Whether the store has lost what it had acknowledged: by its epoch, and by what reached `states` last (I1)."""

from __future__ import annotations

import uuid

from engines.engine import Engine
from engines.log import EventLog, TopicPartition
from engines.topics import STATES
from merge.contents import outlined
from schemas.errors import InputError, StoreBehind

TAIL = 256
"""So many records at the end of each partition of `states` are compared with the store. What a store loses is what it
was told last, so that of one server the last record alone would do; of a cluster each shard loses its own."""
PAGE = 1_000
"""Cases per look."""
REBUILD = "run `casetape rebuild`, which makes the store anew from `states`"


def behind(engine: Engine) -> str | None:
    """What the store has lost, in words; None where it has all that the ends of `states` name. Costs `TAIL` records of
    each partition."""
    refused = engine.store.refused()
    if refused is not None:
        return refused
    last = _newest(engine.log)
    heads = engine.store.heads(list(last))
    for case, (number, identifier) in sorted(last.items()):
        head = heads.get(case)
        if head is None or head.number < number:
            stands = "has no version" if head is None else f"stands at version {head.number}"
            return f"`{case}` {stands} in the store, and version {number} reached `{STATES}`: {REBUILD}"
        if head.number == number and head.id != identifier:
            return f"version {number} of `{case}` is not the one in `{STATES}`: {REBUILD}"
    return None


def ahead(engine: Engine) -> str | None:
    """What `states` has lost, in words; None where it has at least as many records as the store knows to be there.
    Costs what the number of cases costs."""
    marked = 0
    after: str | None = None
    while rows := engine.store.cases(None, order="key", limit=PAGE, after=after):
        marked += sum(engine.store.published([row.key for row in rows]).values())
        after = rows[-1].key
    taped = sum(engine.log.end_offsets(STATES).values())
    if marked <= taped:
        return None
    return (
        f"{marked:,} versions are known to have reached `{STATES}`, which has had {taped:,} records: it was made anew,"
        " or cut. Put it back: the store alone has those versions now"
    )


def admit(engine: Engine) -> None:
    """Lets work begin on the engine: gives a new store its epoch. Raises StoreBehind, and marks the store so that
    nobody works on it until it is rebuilt, where it has lost writes."""
    words = behind(engine)
    if words is not None:
        if engine.store.refused() is None:
            engine.store.refuse(words)
        raise StoreBehind(words)
    if engine.store.epoch() is None:
        # whoever is first gives it
        engine.store.begin(new_epoch())


def new_epoch() -> str:
    """A name that no store has had."""
    return uuid.uuid4().hex


def _newest(log: EventLog) -> dict[str, tuple[int, str]]:
    """By case: number and id of the newest version among the last records of its partition."""
    newest: dict[str, tuple[int, str]] = {}
    starts = log.start_offsets(STATES)
    for partition, end in log.end_offsets(STATES).items():
        at = TopicPartition(STATES, partition)
        for record in log.read(at, max(starts[partition], end - TAIL), TAIL):
            try:
                number, identifier = outlined(record.value)
            except InputError:
                # `verify` says so of every record; a store is not behind because the tape holds something else
                continue
            if number is not None and number > newest.get(record.key, (0, ""))[0]:
                newest[record.key] = number, identifier
    return newest
