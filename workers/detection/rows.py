"""The rows of a window in memory, and their names and labels, each kept once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workers.detection.groups import Group, Name, ordered
from workers.detection.windowed import Int64s

_AT, _OFFSET, _PLACE, _LABEL, _NUMBERS = 4, 5, 6, 7, 8
"""Where a row, which is a line of 64-bit words, has what; its first four words are the observation's id."""
WORD_BYTES = 8
NAME_BYTES = 300
"""Memory of a name or label beside its characters: the strings, and its places in the table."""
TEXT_LIMIT = 1024
"""A key or label has at most this many characters."""
_AT_ONCE = 100_000
_INDEX_SLACK = 20_000


class Sorted(NamedTuple):
    """Rows of many names by (name, event time): their words, the names in order, and of each row the place of its name
    among these."""

    cells: Int64s
    names: list[Name]
    ranks: Int64s


class Table:
    """Rows in memory, in order of arrival. `saved` rows of the front lie in the store as well."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._width = _NUMBERS + columns
        self._pack = struct.Struct(f"<32s{4 + columns}q").pack
        self.clear()

    def clear(self) -> None:
        """Forgets all rows and names."""
        self.saved = 0
        self._rows = bytearray()
        self._named: list[Name] = []
        self._places: dict[Name, int] = {}
        self._spoken: list[str | None] = [None]
        self._labels: dict[str | None, int] = {None: 0}
        self._text = 0
        self._cases: dict[str, list[int]] = {}
        self._indexed = 0
        self._order: Int64s = np.zeros(0, dtype=np.int64)
        self._sorted: Int64s = self._order

    def __len__(self) -> int:
        return len(self._rows) // (self._width * WORD_BYTES)

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        texts = len(self._named) + len(self._spoken)
        return len(self._rows) + WORD_BYTES * 2 * len(self._order) + self._text + NAME_BYTES * texts

    def add(self, name: Name, one: bytes, at: int, offset: int, numbers: Sequence[int], label: str | None) -> None:
        """Appends a row: `one` is the observation's id, 32 bytes. Raises TypeError, ValueError or struct.error where
        the numbers are not as many 64-bit integers as there are columns, or a text is none or too long; then nothing
        was appended."""
        code = self._labels.get(label)
        if code is None:
            code = self._new_label(label)
        place = self._places.get(name)
        if place is None:
            place = self._new_name(name)
        self._rows += self._pack(one, at, offset, place, code, *numbers)

    def extend(self, group: Group) -> None:
        """Appends a group's rows."""
        if not len(group.at):
            return
        place = self._places.get(group.name)
        cells = np.empty((len(group.at), self._width), dtype=np.int64)
        cells[:, :_AT] = np.ascontiguousarray(group.ids).view(np.int64)
        cells[:, _AT] = group.at
        cells[:, _OFFSET] = group.offset
        cells[:, _PLACE] = self._new_name(group.name) if place is None else place
        known = self._labels
        cells[:, _LABEL] = [known[one] if one in known else self._new_label(one) for one in group.labels]
        cells[:, _NUMBERS:] = group.numbers
        self._rows += cells.tobytes()

    def keep(self, floor: Callable[[str], int]) -> None:
        """Drops the rows whose event time lies below their case's floor, and the names and labels that are left
        without any."""
        if not len(self):
            return
        cells = self._cells()
        floors = np.array([floor(case) for case, _ in self._named], dtype=np.int64)
        kept = cells[:, _AT] >= floors[cells[:, _PLACE]]
        if kept.all():
            return
        saved = int(np.count_nonzero(kept[: self.saved]))
        cells = cells[kept]
        used, places = np.unique(cells[:, _PLACE], return_inverse=True)
        spoken, labels = np.unique(np.append(cells[:, _LABEL], 0), return_inverse=True)
        cells[:, _PLACE], cells[:, _LABEL] = places, labels[:-1]
        named = [self._named[place] for place in used.tolist()]
        texts = [self._spoken[code] for code in spoken.tolist()]
        self.clear()
        self.saved, self._rows = saved, bytearray(cells.tobytes())
        for name in named:
            self._new_name(name)
        for text in texts[1:]:
            self._new_label(text)

    def groups(self, start: int = 0, *, case: str | None = None, minimum: int = 1) -> Iterator[Group]:
        """The rows from place `start` on, by name in order; of one case only, or of names with at least so many."""
        if not len(self):
            return
        if case is not None:
            rows = self._rows_of(case)
            yield from self._grouped(rows[rows >= start])
            return
        places = self._cells()[start:, _PLACE]
        if minimum > 1:
            often = np.bincount(places, minlength=len(self._named)) >= minimum
            rows = np.flatnonzero(often[places]) + start
        else:
            rows = np.arange(start, len(self), dtype=np.int64)
        del places
        yield from self._grouped(rows)

    def of(self, name: Name, start: int = 0) -> Iterator[Group]:
        """The rows of one name from place `start` on: a group, or none."""
        place = self._places.get(name)
        if place is not None:
            rows = self._rows_at([place])
            yield from self._grouped(rows[rows >= start])

    def sorted_since(self, start: int) -> Sorted:
        """The rows from place `start` on, for writing: thousands of names at the cost of one."""
        cells = self._cells()[start:]
        used, places = np.unique(cells[:, _PLACE], return_inverse=True)
        held = [self._named[place] for place in used.tolist()]
        by_name = sorted(range(len(held)), key=held.__getitem__)
        rank = np.empty(len(held), dtype=np.int64)
        rank[by_name] = np.arange(len(held))
        ranks = rank[places]
        order = np.lexsort((cells[:, _AT], ranks))
        return Sorted(cells[order], [held[place] for place in by_name], ranks[order])

    def parts_of(self, cells: Int64s) -> tuple[npt.NDArray[np.uint8], Int64s, Int64s, Int64s]:
        """Of rows as words: ids, event times, offsets, numbers."""
        whole = np.ascontiguousarray
        ids = whole(cells[:, :_AT]).view(np.uint8)
        return ids, whole(cells[:, _AT]), whole(cells[:, _OFFSET]), whole(cells[:, _NUMBERS:])

    def labels_of(self, cells: Int64s) -> list[str | None]:
        """Of rows as words: the labels."""
        codes = cells[:, _LABEL]
        if not codes.any():
            return [None] * len(codes)
        return [self._spoken[code] for code in codes.tolist()]

    def _new_name(self, name: Name) -> int:
        _check(name[1])
        place = self._places[name] = len(self._named)
        self._named.append(name)
        self._text += len(name[0]) + len(name[1])
        return place

    def _new_label(self, label: str | None) -> int:
        _check(label)
        code = self._labels[label] = len(self._spoken)
        self._spoken.append(label)
        self._text += 0 if label is None else len(label)
        return code

    def _cells(self) -> Int64s:
        """A view, during whose life no row can be added."""
        return np.frombuffer(self._rows, dtype=np.int64).reshape(-1, self._width)

    def _grouped(self, chosen: Int64s) -> Iterator[Group]:
        if not len(chosen):
            return
        cells = self._cells()
        places = cells[chosen, _PLACE]
        order = chosen[np.lexsort((cells[chosen, _AT], places))]
        places = cells[order, _PLACE]
        del cells
        cuts = np.flatnonzero(np.diff(places)) + 1
        starts = np.concatenate(([0], cuts)).tolist()
        ends = np.concatenate((cuts, [len(order)])).tolist()
        held = sorted(zip((self._named[places[start]] for start in starts), starts, ends, strict=True))
        pending: list[tuple[Name, int, int]] = []
        count = 0
        for one in held:
            pending.append(one)
            count += one[2] - one[1]
            if count >= _AT_ONCE:
                yield from self._copied(pending, order)
                pending, count = [], 0
        yield from self._copied(pending, order)

    def _copied(self, held: Sequence[tuple[Name, int, int]], order: Int64s) -> Iterator[Group]:
        """Copies, since a table that is looked into cannot grow; and of many names at once, since that costs as one."""
        if not held:
            return
        cells = self._cells()[np.concatenate([order[start:end] for _, start, end in held])]
        ids, at, offset, numbers = self.parts_of(cells)
        labels = self.labels_of(cells)
        first = 0
        for name, start, end in held:
            rows = slice(first, first + end - start)
            first = rows.stop
            yield ordered(Group(name, ids[rows], at[rows], offset[rows], numbers[rows], labels[rows]))

    def _rows_of(self, case: str) -> Int64s:
        for place in range(self._indexed, len(self._named)):
            self._cases.setdefault(self._named[place][0], []).append(place)
        self._indexed = len(self._named)
        mine = self._cases.get(case)
        return self._order[:0] if mine is None else self._rows_at(mine)

    def _rows_at(self, mine: Sequence[int]) -> Int64s:
        """The rows of the names at these places, by an index that is made anew whenever the table has grown by a part
        of itself."""
        places = self._cells()[:, _PLACE]
        if len(places) > len(self._order) + len(self._order) // 8 + _INDEX_SLACK:
            self._order = np.argsort(places, kind="stable")
            self._sorted = places[self._order]
        first, last = (np.searchsorted(self._sorted, mine, side=side) for side in ("left", "right"))
        old = [self._order[start:end] for start, end in zip(first.tolist(), last.tolist(), strict=True)]
        rest = places[len(self._order) :]
        if len(mine) == 1:
            among = rest == mine[0]
        else:
            wanted = np.zeros(len(self._named), dtype=np.bool_)
            wanted[mine] = True
            among = wanted[rest]
        new = np.flatnonzero(among) + len(self._order)
        return np.concatenate([*old, new])


def _check(text: str | None) -> None:
    if type(text) is not str:
        raise TypeError("a key or label is not a text")
    if len(text) > TEXT_LIMIT:
        raise ValueError(f"a key or label has {len(text)} characters; at most {TEXT_LIMIT} are kept")
    text.encode()
