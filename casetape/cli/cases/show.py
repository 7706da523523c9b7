"""`casetape cases show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import typer

from casetape.cli import shapes
from casetape.cli.assessments import assessment_lines
from casetape.cli.cases.line import Case, genesis_id, in_order, inputs, key_of, known, last_brought, proved, version_at
from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.render import cell, count, short, when
from casetape.cli.views import analysis_block, inputs_table
from engines.engine import Engine
from merge.graph import Moment
from merge.history import Provenance, moment, provenance
from merge.policies.common import Reason
from merge.summary import Summary
from schemas.analysis import Analysis
from schemas.assessment import Assessment
from schemas.keys import parse_case
from schemas.observation import Observation
from schemas.version import StateVersion

SHOWN = 20
"""Inputs, and analyses, that the view for people shows without being asked for more."""


@dataclass(frozen=True)
class View:
    """A case at one version: its header (None for version 0), assessment and summary; analyses, the weightiest first,
    and where each comes from; inputs by the version that brought them, each with its number, then by event time."""

    case: str
    version: StateVersion | None
    assessment: Assessment | None
    summary: Summary
    analyses: tuple[Analysis, ...]
    came: dict[str, Provenance]
    inputs: tuple[tuple[Observation, int], ...]

    def current(self, one: Analysis) -> bool:
        """Whether this analysis is the newest of its detector and fingerprint at this version."""
        return self.summary.current[one.key].id == one.id

    @cached_property
    def moment(self) -> Moment:
        """The case at this version, as data."""
        return Moment(self.summary, self.assessment)

    @property
    def left_out(self) -> Mapping[str, Reason]:
        """By id: which of the current analyses the assessment at this version leaves out, and why."""
        return self.moment.left_out


@verb
def show(
    case: Case,
    at: Annotated[
        int | None, typer.Option("--at", metavar="N", help="As it was at version N (0: empty).", show_default=False)
    ] = None,
    shown_inputs: Annotated[
        int | None,
        typer.Option(
            "--inputs",
            metavar="N",
            min=0,
            help=f"Only the N inputs brought last. Default: {SHOWN} in tables, all of them in JSON.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All inputs, all numbers, and superseded analyses too.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Show a case: its assessment, its analyses and what their authors were looking at, its inputs. With --at: exactly
    as it was then."""
    limit = None if everything else shown_inputs if shown_inputs is not None else None if as_json else SHOWN
    with reading(settings(home=home)) as engine:
        key = key_of(case)
        known(engine, key)
        view = look(engine, key, at, inputs_limit=limit, superseded=everything)
    if as_json:
        print_json(view_json(view))
    else:
        print_view(view, None if everything else SHOWN)


def look(
    engine: Engine, case: str, number: int | None = None, *, inputs_limit: int | None, superseded: bool = False
) -> View:
    """A case at version `number` (None: the newest), every content proved. Raises UnknownCase, UnknownVersion, and
    EngineError where something was lost or does not verify."""
    summary = moment(engine.store, case, number, engine.log).summary
    version = version_at(engine, case, summary.number) if summary.number else None
    wanted = {one.id for one in summary.current.values()}
    if superseded:
        wanted.update(one.id for one in last_brought(engine, case, summary.number, "ana_", None))
    found = [one for one in proved(engine, case, wanted).values() if isinstance(one, Analysis)]
    last = last_brought(engine, case, summary.number, "inp_", inputs_limit)
    evidence = inputs(engine, case, [one.id for one in last])
    brought = [(evidence[one.id], one.number) for one in last]
    return View(
        case=case,
        version=version,
        assessment=None if version is None else version.assessment,
        summary=summary,
        analyses=tuple(sorted(found, key=lambda one: (-one.weight, one.id))),
        came=provenance(engine.store, case, [one.id for one in found], engine.log),
        inputs=tuple(sorted(brought, key=lambda one: in_order(*one))),
    )


def view_json(view: View) -> dict[str, Any]:
    """The view as `--json` prints it."""
    summary, version = view.summary, view.version
    return {
        "key": view.case,
        **parse_case(view.case)._asdict(),
        **shapes.place(summary.number, genesis_id(view.case) if version is None else version.id),
        "at": None if version is None else shapes.time(version.header.at),
        "author": None if version is None else shapes.author(version.header.author),
        "assessment": shapes.assessment(view.moment),
        "counts": {
            "inputs": summary.inputs_total,
            "analyses": len(summary.current),
            "analyses_total": summary.analyses_total,
            "conflicts": 0 if view.assessment is None else view.assessment.conflicts_total,
        },
        "analyses": [
            shapes.analysis(one, view.came[one.id], current=view.current(one), left_out=view.left_out.get(one.id))
            for one in view.analyses
        ],
        "inputs": [shapes.observed(one, number) for one, number in view.inputs],
    }


def kept_words(summary: Summary) -> str:
    """How many inputs the case holds and, where its analyses rest on more than those, of how many: evidence of one
    analysis is counted whole, that of several may be the same and is counted once."""
    kept = count(summary.inputs_total, "input")
    totals = [one.evidence.total for one in summary.current.values()]
    most = max(totals, default=0)
    if most <= summary.inputs_total:
        return kept
    return f"{kept} kept of {'' if len(totals) == 1 else 'at least '}{most:,} observations"


def print_view(view: View, limit: int | None) -> None:
    """The view for people, with at most `limit` analyses."""
    summary, version = view.summary, view.version
    head = f"{view.case}  version {summary.number}"
    if version is not None:
        head += f"  {short(version.id)}  {when(version.header.at)}"
    out.print(cell(head, "bold"))
    out.print(assessment_lines(view.moment))
    total, now = summary.analyses_total, len(summary.current)
    away = f" ({len(view.left_out):,} of them not counted)" if view.left_out else ""
    superseded = f", and {total - now:,} superseded (--all)" if total > now else ""
    out.print(cell(f"{kept_words(summary)}, {count(now, 'analysis', 'analyses')}{away}{superseded}"))
    out.print()
    for one in view.analyses[:limit]:
        why = view.left_out.get(one.id)
        came, now_current = view.came[one.id], view.current(one)
        out.print(analysis_block(one, came, current=now_current, left_out=why, numbers=limit is None))
    if limit is not None and len(view.analyses) > limit:
        out.print(cell(f"{count(len(view.analyses) - limit, 'more analysis', 'more analyses')}: --all", "dim"))
        out.print()
    if view.inputs:
        out.print(inputs_table("inputs", view.inputs, out.width))
    earlier = summary.inputs_total - len(view.inputs)
    if earlier:
        out.print(cell(f"{count(earlier, 'earlier input')}: --inputs N or --all", "dim"))
