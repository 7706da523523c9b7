"""Assessments for people, and what changed between two of them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from casetape.cli import shapes
from casetape.cli.render import cell, count, lines_of, severity, share, short, table, verdict
from schemas.assessment import Assessment

_FIELDS = (
    *("verdict", "severity", "score", "counted", "counted_total", "counted_digest"),
    *("conflicts", "conflicts_total", "review", "policy", "options"),
)
_MANY = 6


class Change(NamedTuple):
    """A field of an assessment that changed, with both values as `--json` prints them (None: version 0 has none)."""

    field: str
    before: Any
    after: Any


def changes(before: Assessment | None, after: Assessment | None) -> list[Change]:
    """The fields in which two assessments differ."""
    a, b = shapes.assessment(before) or {}, shapes.assessment(after) or {}
    pairs = ((name, a.get(name), b.get(name)) for name in _FIELDS)
    return [Change(name, old, new) for name, old, new in pairs if old != new]


def changes_table(found: list[Change]) -> Table | Text:
    """The changes side by side."""
    shown = [one for one in found if one.field != "counted_digest"]
    if not shown:
        return cell("the assessment is the same", "dim")
    made = table("assessment", "field", "before", "after")
    for one in shown:
        made.add_row(cell(one.field.replace("_", " ")), _value(one.field, one.before), _value(one.field, one.after))
    return made


def policy_words(made: Assessment) -> str:
    """The policy with its options: `worst`, `trust-order (order: dns, beaconing)`."""
    options = [f"{name}: {_words(value, _MANY)}" for name, value in sorted(made.options.items())]
    return f"{made.policy} ({'; '.join(options)})" if options else made.policy


def assessment_lines(made: Assessment | None) -> Text:
    """An assessment in a few lines."""
    if made is None:
        return cell("the empty state: nothing has been assessed", "dim")
    first = Text(" ").join([verdict(made.verdict), severity(made.severity), Text(share(made.score), style="bold")])
    rests = count(made.counted_total, "analysis", "analyses")
    lines = [first.append_text(cell(f"  by policy {policy_words(made)}, resting on {rests}"))]
    if made.review:
        lines.append(cell(f"for review: {', '.join(made.review)}", "bold magenta"))
    for one in made.conflicts:
        named = ", ".join(short(analysis) for analysis in one.analyses)
        lines.append(cell(f"conflict about {one.target}: {named}", "magenta"))
    if made.conflicts_total > len(made.conflicts):
        lines.append(cell(f"and {count(made.conflicts_total - len(made.conflicts), 'more conflict')}", "magenta"))
    return lines_of(lines)


def _value(field: str, value: Any) -> Text:
    if value is None:
        return Text("-", style="dim")
    if field == "verdict":
        return verdict(value)
    if field == "severity":
        return severity(value)
    if field == "counted":
        return cell(_listed([short(one) for one in value]))
    if field == "conflicts":
        return cell(_listed([one["target"] for one in value]))
    return cell(_words(value))


def _listed(names: list[str], many: int = _MANY) -> str:
    more = len(names) - many
    return ", ".join(names[:many]) + (f" and {more} more" if more > 0 else "") if names else "none"


def _words(value: Any, many: int | None = None) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _listed(value, len(value) if many is None else many)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
