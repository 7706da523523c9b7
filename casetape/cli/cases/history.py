"""`casetape cases history`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from casetape.cli import shapes
from casetape.cli.assessments import policy_words
from casetape.cli.cases.line import Case, analyses, genesis_id, key_of, known, pages
from casetape.cli.common import AsJson, Home, out, print_json, reading, settings, verb
from casetape.cli.fitting import Column, fitted
from casetape.cli.render import case_name, cell, count, lines_of, severity, share, short, verdict, when
from casetape.cli.views import author_words, seen_words
from engines.engine import Engine
from merge.history import history as versions_of
from merge.state import greatest
from schemas.analysis import Analysis, AnalysisKey
from schemas.scales import decimal
from schemas.version import StateVersion

_TITLES = 4
_ROOMY = 100
"""Characters of a line from which on those who brought a version have a column."""
_COLUMNS = (
    Column("version", right=True, whole=True),
    Column("made at", floor=len("2020-04-30T12:00:00Z")),
    Column("brought by"),
    Column("added"),
    Column("assessed", floor=len("suspicious critical 1.000")),
)


class Step(NamedTuple):
    """A version, the analyses it added, and by branch the number of the version its author was looking at. `marks`: by
    analysis, whether it is new (`+`), updates an earlier one of its detector and fingerprint (`~`), or came later than
    one that is newer than it (`-`)."""

    version: StateVersion
    added: Sequence[Analysis]
    seen: Mapping[str, int | None]
    marks: Mapping[str, str]


@verb
def history(case: Case, home: Home = None, as_json: AsJson = False) -> None:
    """Show a case's versions as a timeline: what each added, who brought it and was looking at what, and how the case
    was assessed then. Starts with version 1; version 0 is the empty state before it. + is new, ~ updates an earlier
    analysis of the same detector and fingerprint, - came after a newer one."""
    key = key_of(case)
    with reading(settings(home=home)) as engine:
        known(engine, key)
        steps = list(timeline(engine, key))
    if as_json:
        print_json([step_json(one) for one in steps])
    else:
        out.print(timeline_table(key, steps, out.width))


def timeline(engine: Engine, case: str) -> Iterator[Step]:
    """The steps of a case, from version 1 on. Raises UnknownCase, UnknownVersion, EngineError."""
    numbers = {genesis_id(case): 0}
    current: dict[AnalysisKey, Analysis] = {}
    for page in pages(versions_of(engine.store, case, log=engine.log)):
        added = analyses(engine, case, (one for version in page for one in version.header.analyses))
        for version in page:
            numbers[version.id] = version.number
            seen = {branch: numbers.get(header.parents[0]) for branch, header in version.branches.items()}
            brought = [added[one] for one in version.header.analyses]
            yield Step(version, brought, seen, {one.id: _mark(one, current.get(one.key)) for one in brought})
            current = greatest(current, brought)


def step_json(step: Step) -> dict[str, Any]:
    """A step as `--json` prints it."""
    header, made = step.version.header, step.version.assessment
    assert made is not None, "a merged version carries an assessment"  # noqa: S101 - for the type checker
    return {
        **shapes.place(header.number, step.version.id),
        "at": shapes.time(header.at),
        "author": shapes.author(header.author),
        "parents": list(header.parents),
        "branches": [
            {
                "id": identifier,
                "author": shapes.author(branch.author),
                "at": shapes.time(branch.at),
                "looking_at": shapes.place(step.seen[identifier], branch.parents[0]),
            }
            for identifier, branch in step.version.branches.items()
        ],
        "added": {"inputs": len(header.inputs), "analyses": [shapes.brief(one) for one in step.added]},
        "verdict": made.verdict,
        "severity": made.severity,
        "score": decimal(made.score),
        "conflicts": made.conflicts_total,
        "review": list(made.review),
        "policy": made.policy,
        "options": made.options,
    }


def timeline_table(case: str, steps: Sequence[Step], width: int) -> Table:
    """The steps for people, in at most `width` characters: where there is little room, who brought a version stands
    below when it was made."""
    rows = []
    for step in steps:
        header = step.version.header
        made = [Text(when(header.at, whole=True)), cell(short(step.version.id), "dim")]
        brought = _brought_by(step)
        about = [lines_of(made), brought] if width >= _ROOMY else [lines_of([*made, brought])]
        rows.append([Text(str(header.number), style="bold"), *about, _added(step), _assessed(step)])
    columns = _COLUMNS if width >= _ROOMY else [one for one in _COLUMNS if one.name != "brought by"]
    return fitted(f"{case_name(case)}: {count(len(steps), 'version')}", columns, rows, width)


def _mark(one: Analysis, before: Analysis | None) -> str:
    if before is None:
        return "+"
    return "~" if one.order > before.order else "-"


def _assessed(step: Step) -> Text:
    made = step.version.assessment
    assert made is not None, "a merged version carries an assessment"  # noqa: S101 - for the type checker
    words = Text(" ").join([verdict(made.verdict), severity(made.severity), Text(share(made.score))])
    lines = [words, cell(f"by {policy_words(made)}", "dim")]
    if made.review:
        lines.append(cell(f"for review: {', '.join(made.review)}", "magenta"))
    return lines_of(lines)


def _brought_by(step: Step) -> Text:
    """Each author once, with the versions its branches looked at."""
    if not step.version.branches:
        return cell(author_words(step.version.header.author))
    found = dict.fromkeys(
        f"{author_words(branch.author)}, looking at {seen_words(step.seen[one], branch.parents[0])}"
        for one, branch in step.version.branches.items()
    )
    lines = list(found)
    more = [f"and {len(lines) - _TITLES} more"] if len(lines) > _TITLES else []
    return lines_of(cell(line) for line in lines[:_TITLES] + more)


def _added(step: Step) -> Text:
    lines = [cell(f"{step.marks[one.id]} {one.title}") for one in step.added[:_TITLES]]
    if len(step.added) > _TITLES:
        lines.append(cell(f"+ {count(len(step.added) - _TITLES, 'more analysis', 'more analyses')}"))
    if step.version.header.inputs:
        lines.append(cell(f"+ {count(len(step.version.header.inputs), 'input')}"))
    return lines_of(lines) if lines else cell("a new assessment", "dim")
