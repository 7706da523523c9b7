"""Analyses and inputs for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from casetape.cli.render import ELLIPSIS, cell, count, json_text, lines_of, severity, share, short, table, verdict, when
from merge.history import Provenance
from schemas.analysis import Analysis
from schemas.observation import Observation
from schemas.version import Author

_CONTENT = 100
"""Characters of an input's content that a table shows."""


def analysis_block(one: Analysis, came: Provenance, *, current: bool = True) -> Padding:
    """An analysis with all that people need to judge it, and what its author was looking at."""
    weight = f"{share(one.score)} x {share(one.confidence)} sure"
    head = Text(" ").join([severity(one.severity), verdict(one.verdict), Text(weight), cell(one.title, "bold")])
    notes = [word for word, true in (("superseded", not current), ("provisional", one.provisional)) if true]
    if notes:
        head.append(f" ({', '.join(notes)})", style="dim")
    target = "" if one.target is None else f", target {one.target}"
    lines = [head, cell(f"  {one.detector} {one.version}: {one.fingerprint}{target}")]
    lines += [cell(f"  {line}") for line in one.text.splitlines()]
    lines.append(cell(f"  evidence: {_evidence(one)}"))
    if one.techniques:
        lines.append(cell(f"  techniques: {', '.join(one.techniques)}"))
    if one.numbers:
        numbers = (f"{name} {value:,}" for name, value in sorted(one.numbers.items()))
        lines.append(cell(f"  numbers: {', '.join(numbers)}"))
    lines.append(cell(f"  {short(one.id)}, event time {when(one.at)}", "dim"))
    lines.append(cell(f"  {_came(came)}", "cyan"))
    return Padding(lines_of(lines), (0, 0, 1, 2))


def analyses_table(title: str, analyses: Iterable[tuple[str, Analysis]]) -> Table:
    """Analyses, one row each, with a word on what became of it."""
    made = table(
        title, "what", "detector", "severity", "verdict", "score", "title", "id", right=("score",), whole=("id",)
    )
    for word, one in analyses:
        made.add_row(
            word,
            cell(one.detector),
            severity(one.severity),
            verdict(one.verdict),
            share(one.score),
            cell(one.title),
            cell(short(one.id)),
        )
    return made


def inputs_table(title: str, inputs: Sequence[tuple[Observation, int]]) -> Table:
    """Inputs with the number of the version that brought each, one row each."""
    made = table(
        title, "version", "event time", "kind", "content", "id", right=("version",), whole=("event time", "id")
    )
    for one, number in inputs:
        flags = f" [{', '.join(one.flags)}]" if one.flags else ""
        made.add_row(
            str(number), when(one.at) + flags, cell(one.kind), cell(content_words(one), lines=True), cell(short(one.id))
        )
    return made


def content_words(one: Observation) -> str:
    """An input's content: the whole of a text; of a record who talked to whom, and the first of its other fields."""
    if one.text is not None:
        return one.text
    fields = {name: value for name, value in (one.data or {}).items() if not name.startswith(("@", "_"))}
    ends = [_end(fields, side) for side in ("orig", "resp")]
    words = [" -> ".join(ends)] if all(ends) else []
    shown = {name: value for name, value in fields.items() if not (all(ends) and name.startswith("id"))}
    words += [
        f"{name}={value if isinstance(value, str) else json_text(value, indent=None)}" for name, value in shown.items()
    ]
    said = " ".join(words)
    return said if len(said) <= _CONTENT else said[: _CONTENT - 1] + ELLIPSIS


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


def _end(fields: dict[str, Any], side: str) -> str:
    """`10.0.0.5:443` for one end of a connection, `` where the record names none."""
    for mark in (".", "_"):
        host, port = fields.get(f"id{mark}{side}_h"), fields.get(f"id{mark}{side}_p")
        if host is not None:
            return f"{host}:{port}" if port is not None else str(host)
    return ""
