"""`casetape judge`."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from casetape.attending import check
from casetape.cli.cases.line import Case, key_of, known
from casetape.cli.cases.reassess import user
from casetape.cli.common import AsJson, Home, settings, verb, writing
from casetape.cli.options import Said
from casetape.cli.people import SECONDS, By, Put, RequestId, Wait, newest, show, work_off
from casetape.run import now
from schemas.errors import UsageError
from schemas.persons import WHOLE_CASE
from schemas.scales import MILLION
from workers.people.judging import judge as put_on_tape
from workers.people.judging import settle_judged
from workers.people.word import Word


@verb
def judge(
    case: Case,
    verdict: Annotated[Said, typer.Option(help="What you take it for.", show_default=False)],
    why: Annotated[str, typer.Option(help="Why; it is kept as you write it.", show_default=False)],
    fingerprint: Annotated[
        str, typer.Option("--fingerprint", metavar="F", help="What it is about; `case` is the case as a whole.")
    ] = WHOLE_CASE,
    score: Annotated[
        float | None,
        typer.Option(
            help="How bad, 0 to 1. Default: 0.6 for suspicious, 0.9 for malicious, else 0.", show_default=False
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure, 0 to 1.")] = 1.0,
    by: By = None,
    seen: Annotated[
        int | None,
        typer.Option(metavar="N", help="The version you were looking at. Default: the newest.", show_default=False),
    ] = None,
    request_id: RequestId = None,
    wait: Wait = SECONDS,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Say what you take a case for, or one thing in it: your word is one analysis among the others. Of you and a
    fingerprint the newest counts. To call a fingerprint benign dismisses it: what detectors say of it, now or later, no
    longer counts, until the newest that a person says of it is something else."""
    key = key_of(case)
    word = Word(
        by=user() if by is None else by,
        verdict=verdict.value,
        why=why,
        fingerprint=fingerprint,
        score=None if score is None else _millionths("--score", score),
        confidence=_millionths("--confidence", confidence),
        request_id=request_id,
    )
    chosen = settings(home=home)
    check(chosen)
    with writing(chosen) as engine:
        known(engine, key)
        before = newest(engine, key)
        said = put_on_tape(engine.log, engine.store, key, word, now(), seen)
    put = Put("analysis", said.analysis, key, said.repeated, before)
    taken = work_off(chosen, put, wait)
    if taken == "taken_in" and request_id is not None:
        with writing(chosen) as engine:
            settle_judged(engine.store, key, word, seen)
    show(chosen, put, taken, as_json=as_json)


def _millionths(name: str, value: float) -> int:
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise UsageError(f"{name}: not a number from 0 to 1")
    return round(value * MILLION)
