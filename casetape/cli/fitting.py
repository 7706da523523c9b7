"""Tables that fit: where there is little room columns go, the least important first, and the rest stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from casetape.cli.render import table

FLOOR = 14
"""Characters of a line below which text in a column that is folded cannot be read any more."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `right`: of numbers. `whole`: its lines are not folded. `goes`: when it goes where there is
    little room, the larger the sooner; 0 stays. `floor`: the characters that one that is folded needs."""

    name: str
    right: bool = False
    whole: bool = False
    goes: int = 0
    floor: int = FLOOR


def fitted(title: str, columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], width: int) -> Table:
    """The table with as many of its columns as `width` characters have room for. Only where even those that stay do
    not fit are whole cells folded: nothing is ever cut."""
    needs = [_need(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    kept = sorted(range(len(columns)), key=lambda place: (columns[place].goes, place))
    while _total([needs[place] for place in kept]) > width and columns[kept[-1]].goes:
        kept.pop()
    kept.sort()
    fits = _total([needs[place] for place in kept]) <= width
    shown = [columns[place] for place in kept]
    made = table(
        title,
        *(one.name for one in shown),
        right=[one.name for one in shown if one.right],
        whole=[one.name for one in shown if one.whole and fits],
    )
    for place, shown_as in zip(kept, made.columns, strict=True):
        if fits:
            shown_as.min_width = needs[place]
    for row in rows:
        made.add_row(*(row[place] for place in kept))
    return made


def _need(column: Column, cells: Sequence[Text | str]) -> int:
    longest = max((cell_len(line) for one in cells for line in str(one).split("\n")), default=0)
    return max(len(column.name), longest if column.whole else min(longest, column.floor))


def _total(needs: Sequence[int]) -> int:
    """The table's width: a space after every cell, between any two, and at both ends."""
    return sum(needs) + 2 * len(needs) + 1
