"""`casetape cases diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from casetape.cli import shapes
from casetape.cli.assessments import changes, changes_table
from casetape.cli.cases.line import Case, analyses, in_order, inputs, key_of, known, version_id
from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.render import cell, count
from casetape.cli.views import analyses_table, inputs_table
from engines.engine import Engine
from merge.graph import Difference, turns
from merge.history import difference
from schemas.analysis import Analysis
from schemas.observation import Observation

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """A difference with the contents it names, and the ids of the versions at both ends."""

    case: str
    between: Difference
    ends: tuple[str, str]
    inputs: tuple[tuple[Observation, int], ...]
    analyses: tuple[Analysis, ...]


@verb
def diff(
    case: Case,
    a: Annotated[int, typer.Argument(metavar="A", help="A version's number (0: the empty state).", min=0)],
    b: Annotated[int, typer.Argument(metavar="B", help="Another one's.", min=0)],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions, from the earlier to the later: inputs and analyses that were added, what
    became current, what was superseded, the assessment field by field, and which analyses no longer count or count
    again."""
    with reading(settings(home=home)) as engine:
        key = key_of(case)
        known(engine, key)
        compared = compare(engine, key, a, b)
    if as_json:
        print_json(compared_json(compared))
    else:
        print_compared(compared)


def compare(engine: Engine, case: str, a: int, b: int) -> Compared:
    """What changed between two versions, contents proved. Raises UnknownCase, UnknownVersion, EngineError."""
    between = difference(engine.store, case, a, b, engine.log)
    found = inputs(engine, case, between.inputs)
    numbers = engine.store.content_numbers(case, between.inputs)
    added = analyses(engine, case, between.analyses)
    ends = (version_id(engine, case, between.first), version_id(engine, case, between.last))
    return Compared(
        case=case,
        between=between,
        ends=ends,
        inputs=tuple(sorted(((found[one], numbers[one]) for one in found), key=lambda one: in_order(*one))),
        analyses=tuple(added[one] for one in between.analyses),
    )


def compared_json(compared: Compared) -> dict[str, Any]:
    """The comparison as `--json` prints it."""
    between = compared.between
    return {
        "key": compared.case,
        "from": shapes.place(between.first, compared.ends[0]),
        "to": shapes.place(between.last, compared.ends[1]),
        "inputs_added": [shapes.observed(one, number) for one, number in compared.inputs],
        "analyses_added": [shapes.brief(one) for one in compared.analyses],
        "became_current": [shapes.brief(one) for one in between.became_current],
        "superseded": [shapes.brief(one) for one in between.superseded],
        "assessment": {
            "changed": between.assessment_changed,
            "changes": [one._asdict() for one in changes(between.start, between.end)],
        },
        "counting": [shapes.turn(one) for one in turns(between.start, between.end)],
    }


def print_compared(compared: Compared) -> None:
    """The comparison for people."""
    between = compared.between
    out.print(cell(f"{compared.case}: from version {between.first} to version {between.last}", "bold"))
    out.print()
    if compared.inputs:
        shown = compared.inputs[-SHOWN:]
        of_all = f", the last {len(shown)}" if len(shown) < len(compared.inputs) else ""
        out.print(inputs_table(f"+ {count(len(compared.inputs), 'input')}{of_all}", shown, out.width))
    rows = list(_analyses(compared))
    if rows:
        out.print(analyses_table("analyses", rows, out.width))
    out.print(changes_table(between.start, between.end))


def _analyses(compared: Compared) -> Iterator[tuple[str, Analysis]]:
    """Every analysis that was added or is current no more, with what became of it."""
    current = {one.id for one in compared.between.became_current}
    for one in compared.analyses:
        yield ("added, current" if one.id in current else "added, superseded"), one
    for one in compared.between.superseded:
        yield "superseded", one
