"""The rows of one name, and how those of several sources come together."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workers.detection.windowed import Int64s

Name = tuple[str, str]
"""Case key and detector's key."""


class Group(NamedTuple):
    """The rows of one name, by (event time, id): `ids` uint8[n, 32], `at` and `offset` int64[n], `numbers`
    int64[n, columns], `labels` n labels or None."""

    name: Name
    ids: npt.NDArray[np.uint8]
    at: Int64s
    offset: Int64s
    numbers: Int64s
    labels: Sequence[str | None]

    def cut(self, start: int, end: int) -> Group:
        """Its rows from place `start` to before `end`."""
        rows = slice(start, end)
        columns = (self.ids[rows], self.at[rows], self.offset[rows], self.numbers[rows], self.labels[rows])
        return Group(self.name, *columns)

    def since(self, floor: int) -> Group:
        """Its rows whose event time is at least this (microseconds)."""
        return self.cut(int(np.searchsorted(self.at, floor)), len(self.at))


def ordered(group: Group) -> Group:
    """The same rows by (event time, id), at no cost where they lie so."""
    if len(group.at) < 2 or (group.at[1:] > group.at[:-1]).all():
        return group
    words = np.ascontiguousarray(group.ids).view(">u8")
    order = np.lexsort((words[:, 3], words[:, 2], words[:, 1], words[:, 0], group.at))
    labels = [group.labels[row] for row in order.tolist()]
    return Group(group.name, group.ids[order], group.at[order], group.offset[order], group.numbers[order], labels)


def joined(groups: Sequence[Group]) -> Group:
    """One group of the rows of several of the same name."""
    if len(groups) == 1:
        return ordered(groups[0])
    labels = list(itertools.chain.from_iterable(group.labels for group in groups))
    one = Group(
        groups[0].name,
        np.concatenate([group.ids for group in groups]),
        np.concatenate([group.at for group in groups]),
        np.concatenate([group.offset for group in groups]),
        np.concatenate([group.numbers for group in groups]),
        labels,
    )
    return ordered(one)


def merged(sources: Iterable[Iterator[Group]]) -> Iterator[Group]:
    """The groups of several sources, each in order of name, with the rows of one name joined."""
    by_name = heapq.merge(*sources, key=lambda group: group.name)
    for _, same in itertools.groupby(by_name, key=lambda group: group.name):
        yield joined(list(same))
