"""Rows in memory and in blocks: what goes in comes out, by name, event time and id."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.detection import blocks as module
from workers.detection.blocks import blocks, decoded, saved_blocks
from workers.detection.groups import Group, Name, merged
from workers.detection.rows import TEXT_LIMIT, Table


class Row(NamedTuple):
    """A row as it was added."""

    at: int
    one: bytes
    offset: int
    numbers: tuple[int, ...]
    label: str | None


Added = tuple[Name, Row]
names = st.tuples(st.sampled_from(["a/x", "a/x0", "b/é"]), st.sampled_from(["k", "k2", "", "ü"]))
rows = st.builds(
    Row,
    at=st.integers(-3, 6) | st.integers(-(2**62), 2**62),
    one=st.integers(0, 2**256 - 1).map(lambda number: number.to_bytes(32)),
    offset=st.integers(0, 2**62),
    numbers=st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 3)),
    label=st.none() | st.sampled_from(["", "one", "zwei", "drei"]),
)
tables = st.lists(st.tuples(names, rows), max_size=40, unique_by=lambda added: added[1].one)


def table_of(added: list[Added]) -> Table:
    table = Table(2)
    for name, row in added:
        table.add(name, row.one, row.at, row.offset, row.numbers, row.label)
    return table


def expected(added: list[Added]) -> list[tuple[Name, list[Row]]]:
    by_name: dict[Name, list[Row]] = defaultdict(list)
    for name, row in added:
        by_name[name].append(row)
    return [(name, sorted(held)) for name, held in sorted(by_name.items())]


def flat(groups: Iterator[Group]) -> list[tuple[Name, list[Row]]]:
    found = []
    for group in groups:
        columns = (group.at.tolist(), group.offset.tolist(), group.numbers.tolist(), group.labels, group.ids)
        held = [
            Row(at, one.tobytes(), offset, tuple(numbers), label)
            for at, offset, numbers, label, one in zip(*columns, strict=True)
        ]
        found.append((group.name, held))
    return found


@given(tables, st.integers(0, 40))
def test_groups_are_what_was_added(added: list[Added], start: int) -> None:
    table = table_of(added)
    assert flat(table.groups()) == expected(added)
    assert flat(table.groups(min(start, len(added)))) == expected(added[start:])
    for case in ("a/x", "a/x0", "b/é", "none"):
        mine = [one for one in added if one[0][0] == case]
        assert flat(table.groups(case=case)) == expected(mine)
        for key in ("k", "k2", "", "none"):
            ours = [one for one in added if one[0] == (case, key)]
            assert flat(table.of((case, key))) == expected(ours)
            late = [one for one in added[start:] if one[0] == (case, key)]
            assert flat(table.of((case, key), min(start, len(added)))) == expected(late)
    often = [(name, held) for name, held in expected(added) if len(held) >= 3]
    assert flat(table.groups(minimum=3)) == often
    assert len(table) == len(added)
    assert (table.size > 0) or not added


@given(tables, tables)
def test_a_case_is_found_while_the_table_grows(first: list[Added], second: list[Added]) -> None:
    """The index of the first rows is used for the rest."""
    table = table_of(first)
    table.groups(case="a/x")
    for name, row in second:
        table.add(name, row.one, row.at, row.offset, row.numbers, row.label)
        list(table.groups(case=name[0]))
    mine = [one for one in [*first, *second] if one[0][0] == "a/x"]
    assert sorted(flat(table.groups(case="a/x"))) == sorted(expected(mine))


@given(tables, st.integers(0, 40), st.integers(1, 5))
def test_blocks_bring_back_what_was_saved(added: list[Added], start: int, size: int) -> None:
    table = table_of(added)
    start = min(start, len(added))
    before = module.BLOCK_ROWS
    module.BLOCK_ROWS = size
    try:
        of_table = list(saved_blocks(table, start))
        of_groups = list(blocks(table.groups(start)))
    finally:
        module.BLOCK_ROWS = before
    for made in (of_table, of_groups):
        assert [block.first for block in made] == sorted(block.first for block in made)
        assert sum(block.rows for block in made) == len(added) - start
        back = merged([(group for block in made for group in decoded(block.body, 2))])
        assert flat(back) == expected(added[start:])
        mine = merged([(group for block in made for group in decoded(block.body, 2, "a/x"))])
        assert flat(mine) == expected([one for one in added[start:] if one[0][0] == "a/x"])


@given(tables, tables, tables)
def test_several_sources_come_together(first: list[Added], second: list[Added], third: list[Added]) -> None:
    everything = list({row.one: (name, row) for name, row in [*first, *second, *third]}.values())
    pieces = [everything[::3], everything[1::3], everything[2::3]]
    back = merged([table_of(piece).groups() for piece in pieces])
    assert flat(back) == expected(everything)


@given(tables, st.integers(0, 40), st.dictionaries(st.sampled_from(["a/x", "a/x0", "b/é"]), st.integers(-4, 7)))
def test_what_is_dropped_is_gone_and_the_rest_stays(added: list[Added], saved: int, floors: dict[str, int]) -> None:
    """Also where only some of the rows are saved."""
    table = table_of(added)
    table.saved = saved = min(saved, len(added))
    table.keep(lambda case: floors.get(case, -(2**63)))
    left = [(name, row) for name, row in added if row.at >= floors.get(name[0], -(2**63))]
    unsaved = [one for one in added[saved:] if one in left]
    assert flat(table.groups()) == expected(left)
    assert flat(table.groups(table.saved)) == expected(unsaved)
    for name, row in added[:5]:
        table.add(name, row.one, row.at, row.offset, row.numbers, row.label)
    assert len(table) == len(left) + len(added[:5])


@given(tables)
def test_a_table_is_rebuilt_from_its_groups(added: list[Added]) -> None:
    again = Table(2)
    for group in table_of(added).groups():
        again.extend(group)
    assert flat(again.groups()) == expected(added)


ROW = (b"i" * 32, 5, 6)


@pytest.mark.parametrize(
    ("name", "numbers", "label"),
    [
        (("c", 5), (1, 2), None),
        (("c", None), (1, 2), None),
        (("c", ["k"]), (1, 2), None),
        (("c", "k" * (TEXT_LIMIT + 1)), (1, 2), None),
        (("c", "\ud800"), (1, 2), None),
        (("c", "k"), (1,), None),
        (("c", "k"), (1, 2, 3), None),
        (("c", "k"), (1, 2.0), None),
        (("c", "k"), (1, 2**63), None),
        (("c", "k"), (1, "2"), None),
        (("c", "k"), (1, 2), 7),
        (("c", "k"), (1, 2), b"x"),
        (("c", "k"), (1, 2), "\udfff"),
        (("c", "k"), (1, 2), "x" * (TEXT_LIMIT + 1)),
        (("c", "k"), None, None),
    ],
)
def test_what_cannot_be_kept_is_not_half_kept(name: Name, numbers: tuple[int, ...], label: str | None) -> None:
    table = Table(2)
    table.add(("c", "other"), *ROW, (1, 2), "x")
    with pytest.raises((TypeError, ValueError, struct.error)):
        table.add(name, *ROW, numbers, label)
    table.add(("c", "other"), *ROW, (1, 2), "x")
    ((_, held),) = flat(table.groups())
    assert len(held) == 2
    ((back),) = [list(decoded(block.body, 2)) for block in saved_blocks(table, 0)]
    assert len(back) == 1


def test_a_window_without_columns_has_rows_too() -> None:
    table = Table(0)
    table.add(("c", "k"), *ROW, (), None)
    (block,) = saved_blocks(table, 0)
    (group,) = decoded(block.body, 0)
    assert group.numbers.shape == (1, 0)
    assert group.at.tolist() == [5]
