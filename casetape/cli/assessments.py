"""Assessments for people, and what changed between two of them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from casetape.cli import shapes
from casetape.cli.render import cell, count, lines_of, severity, share, short, table, verdict
from casetape.cli.views import LEFT_OUT
from merge.graph import Moment, Standing, Turn, turns
from schemas.assessment import Assessment
from schemas.verdicts import rank

_FIELDS = (
    *("verdict", "severity", "score", "counted", "counted_total", "counted_digest"),
    *("conflicts", "conflicts_total", "review", "policy", "options"),
)
_MANY = 6
_TURNS = 20
"""Analyses that count otherwise than before which the table for people names."""


class Change(NamedTuple):
    """A field of an assessment that changed, with both values as `--json` prints them (None: version 0 has none)."""

    field: str
    before: Any
    after: Any


def changes(before: Moment, after: Moment) -> list[Change]:
    """The fields in which the assessments at two moments differ."""
    a, b = shapes.assessment(before) or {}, shapes.assessment(after) or {}
    pairs = ((name, a.get(name), b.get(name)) for name in _FIELDS)
    return [Change(name, old, new) for name, old, new in pairs if old != new]


def changes_table(before: Moment, after: Moment) -> Table | Text:
    """The changes side by side, and below them the analyses that no longer count, or count again."""
    shown = [one for one in changes(before, after) if one.field != "counted_digest"]
    turned = turns(before, after)
    if not shown and not turned:
        return cell("the assessment is the same", "dim")
    made = table("assessment", "field", "before", "after")
    for one in shown:
        made.add_row(cell(one.field.replace("_", " ")), _value(one.field, one.before), _value(one.field, one.after))
    for turn in turned[:_TURNS]:
        about = turn.analysis
        name = lines_of([cell(about.title, "bold"), cell(f"{about.detector}: {about.fingerprint}")])
        made.add_row(name, *_turned(turn))
    if len(turned) > _TURNS:
        made.add_row(cell(f"and {count(len(turned) - _TURNS, 'more analysis', 'more analyses')}", "dim"), "", "")
    return made


def policy_words(made: Assessment) -> str:
    """The policy with its options: `worst`, `trust-order (order: dns, beaconing)`."""
    options = [f"{name}: {_words(value, _MANY)}" for name, value in sorted(made.options.items())]
    return f"{made.policy} ({'; '.join(options)})" if options else made.policy


def assessment_lines(at: Moment) -> Text:
    """The assessment at a moment in a few lines."""
    made = at.assessment
    if made is None:
        return cell("the empty state: nothing has been assessed", "dim")
    first = Text(" ").join([verdict(made.verdict), severity(made.severity), Text(share(made.score), style="bold")])
    rests = count(made.counted_total, "analysis", "analyses")
    lines = [first.append_text(cell(f"  by policy {policy_words(made)}, resting on {rests}"))]
    if made.review:
        lines.append(cell(f"for review: {', '.join(made.review)}", "bold magenta"))
    said = shapes.assessment(at) or {}
    lines += [cell(f"conflict about {_conflict(one)}", "magenta") for one in said["conflicts"]]
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
        return lines_of(cell(_conflict(one)) for one in value) if value else cell("none")
    return cell(_words(value))


def _conflict(one: dict[str, Any]) -> str:
    """The target, and who says what of it: malicious first, each detector's word once."""
    said = sorted(one["says"], key=lambda each: (-rank(each["verdict"]), each["detector"]))
    words = dict.fromkeys(f"{each['detector']}: {each['verdict']}" for each in said)
    return f"{one['target']} ({_listed(list(words))})"


def _turned(one: Turn) -> tuple[Text, Text]:
    """What it was and what it is, in words."""
    was = Text("-", style="dim") if one.was is None else cell(_standing(one.was))
    if one.now == "counts":
        return was, cell("counts again", "green")
    no_longer = "no longer counts: " if one.was == "counts" else "not counted: "
    return was, cell(f"{no_longer}{LEFT_OUT[one.now]}", "yellow")


def _standing(was: Standing) -> str:
    return "counts" if was == "counts" else f"not counted: {LEFT_OUT[was]}"


def _listed(names: list[str], many: int = _MANY) -> str:
    more = len(names) - many
    return ", ".join(names[:many]) + (f" and {more} more" if more > 0 else "") if names else "none"


def _words(value: Any, many: int | None = None) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _listed(value, len(value) if many is None else many)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
