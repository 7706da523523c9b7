"""Analyses and inputs for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from casetape.cli.fitting import Column, fitted
from casetape.cli.observed import content_words
from casetape.cli.render import cell, count, lines_of, severity, share, short, verdict, when
from merge.history import Provenance
from merge.policies.common import Reason
from schemas.analysis import Analysis
from schemas.observation import Observation
from schemas.persons import person_of
from schemas.version import Author

LEFT_OUT: dict[Reason, str] = {"dismissed": "dismissed", "allowed": "on the allow-list", "too_old": "too old"}
_ANALYSES = (
    Column("what", whole=True),
    Column("detector", goes=2),
    Column("severity", whole=True, goes=1),
    Column("verdict", whole=True),
    Column("score", right=True, whole=True),
    Column("title", floor=16),
    Column("id", whole=True, goes=3),
)
_INPUTS = (
    Column("version", right=True, whole=True),
    Column("event time", whole=True),
    Column("kind", whole=True, goes=1),
    Column("content", floor=24),
    Column("id", whole=True, goes=2),
)


def analysis_block(
    one: Analysis, came: Provenance, *, current: bool = True, left_out: Reason | None = None, numbers: bool = False
) -> Padding:
    """An analysis with all that people need to judge it, and what its author was looking at; with why it does not
    count, where it is `left_out`; with its `numbers` only where they are asked for, for there may be many."""
    weight = f"{share(one.score)} x {share(one.confidence)} sure"
    head = Text(" ").join([severity(one.severity), verdict(one.verdict), Text(weight), cell(one.title, "bold")])
    notes = [word for word, true in (("superseded", not current), ("provisional", one.provisional)) if true]
    if left_out is not None:
        notes.append(f"not counted: {LEFT_OUT[left_out]}")
    if notes:
        head.append(f" ({', '.join(notes)})", style="dim")
    target = "" if one.target is None else f", target {one.target}"
    lines = [head, cell(f"  {f'{one.detector} {one.version}'.rstrip()}: {one.fingerprint}{target}")]
    lines += [cell(f"  {line}") for line in one.text.splitlines()]
    lines.append(cell(f"  evidence: {_evidence(one)}"))
    if one.techniques:
        lines.append(cell(f"  techniques: {', '.join(one.techniques)}"))
    if one.numbers and numbers:
        said = (f"{name} {value:,}" for name, value in sorted(one.numbers.items()))
        lines.append(cell(f"  numbers: {', '.join(said)}"))
    # a person's time is that of the request
    of = "event time" if person_of(one.detector) is None else "said at"
    lines.append(cell(f"  {short(one.id)}, {of} {when(one.at)}", "dim"))
    lines.append(cell(f"  {_came(came)}", "cyan"))
    return Padding(lines_of(lines), (0, 0, 1, 2))


def analyses_table(title: str, analyses: Iterable[tuple[str, Analysis]], width: int) -> Table:
    """Analyses, one row each, with a word on what became of it, in at most `width` characters."""
    rows = [
        (
            word,
            cell(one.detector),
            severity(one.severity),
            verdict(one.verdict),
            share(one.score),
            cell(one.title),
            cell(short(one.id)),
        )
        for word, one in analyses
    ]
    return fitted(title, _ANALYSES, rows, width)


def inputs_table(title: str, inputs: Sequence[tuple[Observation, int]], width: int) -> Table:
    """Inputs with the number of the version that brought each, one row each, in at most `width` characters."""
    rows = [
        (
            str(number),
            lines_of([Text(when(one.at, whole=True)), *(cell(f"[{flag}]", "dim") for flag in one.flags)]),
            cell(one.kind),
            cell(content_words(one), lines=True),
            cell(short(one.id)),
        )
        for one, number in inputs
    ]
    return fitted(title, _INPUTS, rows, width)


def author_words(who: Author) -> str:
    """Who made something: `beaconing, recorder`, `alice`."""
    return who.name.replace(",", ", ")


def seen_words(number: int | None, identifier: str) -> str:
    """The version that an author was looking at."""
    if number == 0:
        return "the empty state (version 0)"
    return f"version {number}" if number is not None else f"{short(identifier)}, which is not on this line"


def _came(came: Provenance) -> str:
    seen = seen_words(came.seen, came.seen_id)
    return f"brought by version {came.number}, from {author_words(came.author)}, looking at {seen}"


def _evidence(one: Analysis) -> str:
    held = one.evidence
    sample = ", ".join(short(each) for each in held.sample[:3])
    span = f", {when(held.first)} to {when(held.last)}" if held.first is not None else ""
    return count(held.total, "observation") + span + (f", such as {sample}" if sample else "")
