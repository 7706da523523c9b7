"""Prints the tables of docs/explanation/dns.md: `python -m tests.unit.dns.measure`.

Every figure is of fixed seeds, so the tables are the same each time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from tests.unit.dns import benign, tunnels, vain
from tests.unit.dns.asks import Ask, Families, zeek
from tests.unit.dns.judged import Word, judged
from tests.unit.dns.recorded import TUNNELS, replayed
from workers.detectors.dns import Dns

ROUNDS = 10


class Row(NamedTuple):
    """How one family fared in its rounds: look-ups; in how many rounds something was said, early or in the end; in how
    many in the end; the most rows that the first word rested on; the least final score."""

    name: str
    asks: int
    said: int
    stood: int
    first: int
    score: float


def rows(families: Families, rounds: int = ROUNDS) -> Iterator[Row]:
    """Judges so many seeded examples of every family."""
    detector = Dns()
    for number, (name, make) in enumerate(families.items()):
        made = [make(random.Random(f"{number} {seed}")) for seed in range(rounds)]
        said = [[word for words in judged(zeek(asks), detector).values() for word in words] for asks in made]
        stood = [_last(words) for words in said if _last(words) is not None]
        yield Row(
            name=name,
            asks=int(median(map(len, made))),
            said=sum(map(bool, said)),
            stood=len(stood),
            first=max((words[0].rows for words in said if words), default=0),
            score=min((word.finding.score for word in stood if word), default=0.0),
        )


def _last(words: list[Word]) -> Word | None:
    """The last final word."""
    return next((word for word in reversed(words) if not word.early), None)


def _table(families: Families) -> Iterator[str]:
    yield "| family | look-ups | found | first said at | score |\n|---|---|---|---|---|"
    for row in rows(families):
        first, score = (f"{row.first}", f"{row.score:.2f}") if row.said else ("", "")
        yield f"| {row.name} | {row.asks:,} | {row.stood} of {ROUNDS} | {first} | {score} |"


def _quiet(families: Families) -> Iterator[str]:
    yield "| family | look-ups | said early, taken back | found |\n|---|---|---|---|"
    for row in rows(families):
        yield f"| {row.name} | {row.asks:,} | {row.said - row.stood} of {ROUNDS} | {row.stood} of {ROUNDS} |"


def _recorded() -> Iterator[str]:
    yield "| file | type | domain | first said at | score then | score in the end |\n|---|---|---|---|---|---|"
    for name in ("dns2tcp-names", "train", "plain-names"):
        for kind in ("A", "TXT"):
            found = judged(zeek(replayed(name, kind)))
            for domain in TUNNELS:
                for words in (found.pop(f"dns tunnel {domain}", []),):
                    if words:
                        first, last = words[0], words[-1]
                        yield (
                            f"| {name} | {kind} | {domain} | {first.rows} | {first.finding.score:.2f} "
                            f"| {last.finding.score:.2f} |"
                        )
            yield f"| {name} | {kind} | all others | {len(found)} findings | | |"


def main() -> None:
    """Prints all tables."""
    parts: list[str] = [*_recorded(), ""]
    for families in (tunnels.TUNNELS, tunnels.NOT_SEEN, vain.GENERATED, vain.NOT_SEEN):
        parts += [*_table(families), ""]
    for families in (benign.BENIGN, vain.OTHERS):
        parts += [*_quiet(families), ""]
    sys.stdout.write("\n".join(parts))


__all__ = ["Ask", "Row", "rows"]

if __name__ == "__main__":
    main()
