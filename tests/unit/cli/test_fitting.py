"""Tables that fit: columns go before text is made unreadable, and nothing that stays is cut."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from casetape.cli.fitting import Column, fitted

COLUMNS = (
    Column("key", whole=True),
    Column("reason", floor=10),
    Column("number", right=True, whole=True, goes=2),
    Column("beside", goes=1),
)
ROW = ("host:10.0.0.5", "a sentence of some words", "1,000", "something else")


def printed(rows: Sequence[Sequence[str]], width: int, columns: Sequence[Column] = COLUMNS) -> str:
    file = io.StringIO()
    cells = [[Text(one, overflow="fold") for one in row] for row in rows]
    Console(file=file, width=width).print(fitted("title", columns, cells, width))
    return file.getvalue()


@pytest.mark.parametrize(
    ("width", "there", "gone"),
    [
        (100, ["key", "reason", "number", "beside"], []),
        (48, ["key", "reason", "beside"], ["number"]),
        (30, ["key", "reason"], ["number", "beside"]),
    ],
)
def test_the_least_important_column_goes_first(width: int, there: list[str], gone: list[str]) -> None:
    out = printed([ROW], width)
    assert [name for name in there if name in out] == there
    assert [name for name in gone if name in out] == []
    assert ROW[0] in out


@given(st.lists(st.text("abc:.", min_size=1, max_size=60), min_size=1, max_size=4), st.integers(12, 130))
def test_the_key_is_never_cut_and_whole_where_it_can_be(keys: list[str], width: int) -> None:
    out = printed([(key, "why", "1", "x") for key in keys], width)
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    joined = "".join("".join(line.split()[:1]) for line in lines[4:] if line.strip())
    assert sum(joined.count(one) for one in "abc:.") >= sum(map(len, keys))
    if max(map(len, keys)) + len("reason") + 5 <= width:
        assert all(any(line.split()[:1] == [key] for line in lines) for key in keys)


def test_a_line_of_a_cell_counts_by_itself() -> None:
    columns = (Column("key", whole=True), Column("beside", whole=True, goes=1))
    assert "beside" in printed([("a\nbb\ncc", "x" * 10)], 19, columns)
    assert "beside" not in printed([("a\nbb\ncc", "x" * 20)], 19, columns)


def test_no_rows() -> None:
    assert all(one.name in printed([], 60) for one in COLUMNS)
