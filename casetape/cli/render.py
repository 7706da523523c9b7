"""How things look to people: pure functions from values to text. What came from observations, plug-ins or files is
untrusted: it reaches a terminal through `plain` or `cell` only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from schemas.keys import DEFAULT_TENANT
from schemas.scales import MILLION, SECOND, rfc3339
from schemas.verdicts import Severity, Verdict

SHORT = 8
"""Digits of a digest that people are shown."""
ELLIPSIS = "\u2026"
_SEVERITIES: dict[Severity, str] = {
    "info": "dim",
    "low": "cyan",
    "medium": "yellow",
    "high": "red",
    "critical": "bold red",
}
_VERDICTS: dict[Verdict, str] = {"benign": "green", "unknown": "dim", "suspicious": "yellow", "malicious": "red"}
_SPANS = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))
_SIZES = ((1024 * 1024, "MiB"), (1024, "KiB"), (1, "B"))
_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")


def plain(text: str, *, lines: bool = False) -> str:
    """The text with everything that is no visible character spelled out (`\\x1b`, `\\u202e`), so that it can neither
    steer a terminal nor hide; `lines` keeps line feeds and tabs."""
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(one if one.isprintable() or one in kept else _spelled(one) for one in text)


def cell(text: str, style: str = "", *, lines: bool = False) -> Text:
    """Untrusted text for a table or a line: made `plain`, and never read as markup."""
    return Text(plain(text, lines=lines), style=style, overflow="fold")


def json_text(value: object, *, indent: int | None = 2) -> str:
    """JSON for a terminal or a file: the same values, with what is no visible character escaped."""
    return visible_json(json.dumps(value, indent=indent, ensure_ascii=False))


def visible_json(text: str) -> str:
    """JSON text with what is no visible character escaped: it reads back as the same value."""
    return _UNUSUAL.sub(lambda found: _json_escape(found[0]), text)


def short(identifier: str) -> str:
    """`inp_1234abcd…` for an id; other text as it is."""
    prefix, line, digits = identifier.partition("_")
    return f"{prefix}_{digits[:SHORT]}{ELLIPSIS}" if line and len(digits) > SHORT else identifier


def when(at: int | None, *, whole: bool = False) -> str:
    """RFC 3339 for microseconds since the epoch (`whole`: cut to seconds), or `-`."""
    if at is None:
        return "-"
    return rfc3339(at // SECOND * SECOND if whole else at)


def share(millionths: int) -> str:
    """`0.620` for 620,000 millionths, rounded down: nothing below a threshold looks as if it had reached it."""
    return f"0.{millionths * 1000 // MILLION:03d}" if millionths < MILLION else "1.000"


def severity(name: Severity) -> Text:
    """A severity in its colour."""
    return Text(name, style=_SEVERITIES[name])


def verdict(name: Verdict) -> Text:
    """A verdict in its colour."""
    return Text(name, style=_VERDICTS[name])


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`, `1,000 cases`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def span(seconds: float) -> str:
    """How long something lasts, to two or three digits: `1 s`, `14 min`, `1.5 h`, `7 days`."""
    unit, name = next((one for one in _SPANS if seconds >= one[0]), _SPANS[-1])
    value = seconds / unit
    if name == "s":
        return f"{max(round(value), 1 if seconds > 0 else 0)} s"
    said = _figure(value)
    return f"{said} {name}" if name != "day" else f"{said} day{'' if said == '1' else 's'}"


def room(mib: float) -> str:
    """MiB as people write them: `1.5 MiB`, `10 KiB`, `1,000,000 MiB`."""
    size = mib * 1024 * 1024
    unit, name = next((one for one in _SIZES if size >= one[0]), _SIZES[-1])
    return f"{_figure(size / unit)} {name}"


def middle(text: str, limit: int) -> str:
    """The text in at most `limit` characters: what is too long loses its middle, for both its ends tell most."""
    if len(text) <= limit:
        return text
    end = limit // 2
    return f"{text[: limit - end - 1]}{ELLIPSIS}{text[-end:]}"


def case_name(key: str) -> str:
    """A case's key as people type it: the default tenant is left out."""
    return key.removeprefix(f"{DEFAULT_TENANT}/")


def table(title: str, *columns: str, right: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """A table whose cells are folded rather than cut. `right`: the columns of numbers; `whole`: those that stay on one
    line while any other can give way."""
    made = Table(title=cell(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    numbers, unfolded = set(right), set(whole)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        made.add_column(column, justify=justify, overflow="fold", no_wrap=column in unfolded, min_width=len(column))
    return made


def lines_of(parts: Iterable[Text]) -> Text:
    """One below the other."""
    return Text("\n", overflow="fold").join(parts)


def _figure(value: float) -> str:
    return f"{round(value, 1):g}" if value < 9.95 else f"{round(value):,}"


def _spelled(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")


def _json_escape(one: str) -> str:
    return one if one.isprintable() else json.dumps(one)[1:-1]
