"""`casetape reply`."""

from __future__ import annotations

from typing import Annotated

import typer

from casetape.attending import check
from casetape.cli.cases.line import Case, key_of, known
from casetape.cli.cases.reassess import user
from casetape.cli.common import AsJson, Home, settings, verb, writing
from casetape.cli.people import SECONDS, By, Put, RequestId, Wait, newest, show, work_off
from casetape.run import now
from workers.people.replying import reply as put_on_tape


@verb
def reply(
    case: Case,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you know; it is kept as you write it.")],
    by: By = None,
    request_id: RequestId = None,
    wait: Wait = SECONDS,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Add what you know to a case. The text is evidence, which starts work on the case again: detectors look at it, and
    the case has a new version."""
    key = key_of(case)
    chosen = settings(home=home)
    check(chosen)
    with writing(chosen) as engine:
        known(engine, key)
        before = newest(engine, key)
        said = put_on_tape(engine.log, engine.store, key, text, user() if by is None else by, now(), request_id)
    put = Put("observation", said.observation, key, said.repeated, before)
    show(chosen, put, work_off(chosen, put, wait), as_json=as_json)
