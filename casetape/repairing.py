"""What must hold before a store is thrown away to be made anew."""

from __future__ import annotations

from collections.abc import Callable

from casetape.lagging import readers
from casetape.turn import alone
from engines.engine import Engine
from engines.topics import STATES
from merge.highwater import ahead
from schemas.errors import CasetapeError, EngineError, StoreBehind


class WouldLose(CasetapeError):
    """Making the store anew now would lose what it has."""

    code = "would_lose"


def may_be_made_anew(engine: Engine, session: float, tell: Callable[[str], None]) -> None:
    """Raises HomeBusy where services are at work, after waiting for those that were killed; EngineError where `states`
    does not begin at its beginning, WouldLose where it knows less than the store; UnknownTopic where it is not
    there."""
    starts = engine.log.start_offsets(STATES)
    if any(starts.values()):
        raise EngineError(
            f"`{STATES}` was trimmed: its oldest versions are in the store only, which therefore cannot be made anew"
        )
    for group in sorted({group for groups in _readers(engine) for group in groups}):
        alone(engine.log, group, session, tell)
    try:
        words = ahead(engine)
    except StoreBehind:
        # it has lost writes itself, which is why it is made anew
        return
    if words is not None:
        raise WouldLose(f"{words}. Nothing was changed; --force makes the store anew all the same")


def _readers(engine: Engine) -> list[tuple[str, ...]]:
    try:
        return list(readers(engine).values())
    except StoreBehind:
        names = engine.log.groups()
        return [tuple(names)]
