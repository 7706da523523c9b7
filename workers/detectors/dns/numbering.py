"""Whether names are numbered in the order in which they are asked for: who sends a file away numbers its pieces."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

FEWEST_NUMBERS: Final = 10
IN_ORDER: Final = 0.95
"""From this share of steps upwards (and of names with a number in that place) they are numbered: some are repeated."""
CHANGING: Final = 0.4
"""So many of the steps must lead to another number."""
PLACES: Final = (0, 1, 2, -1, -2, -3, -4)
"""Labels, and parts of them between hyphens, that are tried, from the left and from the right."""
_BETWEEN = re.compile(r"[._-]")
_DECIMAL = re.compile(r"[a-z]{0,4}(\d{1,12})\Z", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}\Z", re.IGNORECASE)


def numbered(names: Sequence[str]) -> bool:
    """Whether one part of these distinct names, in order of their first appearance, counts upwards: in decimal, a few
    letters before it, or in hex."""
    split = [_BETWEEN.split(name) for name in names]
    return any(
        _upwards([labels[place] if -len(labels) <= place < len(labels) else "" for labels in split], pattern, base)
        for place in PLACES
        for pattern, base in ((_DECIMAL, 10), (_HEXADECIMAL, 16))
    )


def _upwards(labels: Sequence[str], pattern: re.Pattern[str], base: int) -> bool:
    found = [one for one in map(pattern.match, labels) if one]
    if len(found) < max(FEWEST_NUMBERS, IN_ORDER * len(labels)):
        return False
    numbers = [int(one[1] if base == 10 else one[0], base) for one in found]
    steps = list(itertools.pairwise(numbers))
    risen = sum(after >= before for before, after in steps)
    changed = sum(after != before for before, after in steps)
    return risen >= IN_ORDER * len(steps) and changed >= CHANGING * len(steps)
