"""What the verbs share by which people put something on the tape: who says it, and what became of it."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from casetape.attending import Taken, attend
from casetape.cli import shapes
from casetape.cli.assessments import assessment_lines, changes_table
from casetape.cli.cases.line import version_at
from casetape.cli.common import out, print_json, reading, tell
from casetape.cli.render import cell, short
from casetape.settings import Settings
from engines.engine import Engine
from merge.graph import Moment, turns
from merge.reading import head_number, load_summary
from schemas.errors import CasetapeError
from schemas.version import StateVersion

By = Annotated[
    str | None, typer.Option("--by", help="Who says it. Default: the name you are logged in by.", show_default=False)
]
RequestId = Annotated[
    str | None, typer.Option(help="Of this request: the same again changes nothing.", show_default=False)
]
Wait = Annotated[
    float,
    typer.Option(
        help="Seconds to wait for whoever is at work on the home.",
        min=0,
        max=86_400,
    ),
]
SECONDS = 30.0


class Put(NamedTuple):
    """What a person put on the tape: what to call it, its id and case, whether the same request came before, and the
    case before."""

    what: str
    id: str
    case: str
    repeated: bool
    before: Moment


def newest(engine: Engine, case: str) -> Moment:
    """The case as it stands, its version proved."""
    return _at(engine, version_at(engine, case, head_number(engine.store, case)))


def work_off(chosen: Settings, put: Put, wait: float) -> Taken:
    """Sees to it that the case takes it in. Raises what a run raises, and says first that nothing is lost."""
    try:
        return attend(chosen, lambda engine: put.id in engine.store.known(put.case, [put.id]), tell, wait)
    except CasetapeError:
        tell(f"the {put.what} is on the tape, and the next run takes it in")
        raise


def show(chosen: Settings, put: Put, taken: Taken, *, as_json: bool) -> None:
    """Prints what became of it. Raises CasetapeError where all was worked off and it is not in its case."""
    if taken == "left_out":
        raise CasetapeError(
            f"the {put.what} {put.id} was worked off and is not in `{put.case}`: see `casetape quarantine list`,"
            " and `casetape detector list` for whether the recorder is there, which takes texts in"
        )
    with reading(chosen) as engine:
        version = version_at(engine, put.case, head_number(engine.store, put.case))
        now = _at(engine, version)
    if taken == "queued":
        who = f"whoever is at work on {chosen.home}, or the next run," if chosen.engine == "embedded" else "a worker"
        tell(f"the {put.what} is on the tape: {who} will take it in")
    if as_json:
        print_json(_json(put, taken, version, now))
        return
    if taken == "queued":
        out.print(cell(f"{put.case}: version {version.number}; the {put.what} {short(put.id)} is queued", "bold"))
        return
    again = ", which the same request put there before" if put.repeated else ""
    out.print(cell(f"{put.case}: version {version.number}, with the {put.what} {short(put.id)}{again}", "bold"))
    out.print(assessment_lines(now))
    if not put.repeated:
        out.print()
        out.print(changes_table(put.before, now))


def _at(engine: Engine, version: StateVersion) -> Moment:
    return Moment(load_summary(engine.store, version.case, version.number, log=engine.log), version.assessment)


def _json(put: Put, taken: Taken, version: StateVersion, now: Moment) -> dict[str, Any]:
    return {
        "case": put.case,
        put.what: put.id,
        "repeated": put.repeated,
        "queued": taken == "queued",
        **shapes.place(version.number, version.id),
        "at": shapes.time(version.header.at),
        "assessment": shapes.assessment(now),
        "counting": [] if put.repeated else [shapes.turn(one) for one in turns(put.before, now)],
    }
