"""Prints the tables of docs/explanation/beaconing.md: `python -m tests.unit.beaconing.measure`.

Every figure is of fixed seeds, so the tables are the same each time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tests.unit.beaconing import traffic
from tests.unit.beaconing.recorded import keys_of
from workers.detectors.beaconing.judge import BeaconingParameters, judge
from workers.detectors.beaconing.rita import rita

ROUNDS = 100
MEDIUM = 600_000
RITA_MEDIUM = 0.9
EVERYTHING = BeaconingParameters(report_from=0)


@dataclass(frozen=True)
class Row:
    """How one family fared: connections and scores are medians, the shares are of its rounds."""

    name: str
    connections: int
    score: float
    reported: float
    medium: float
    rita: float
    rita_medium: float


def rows(families: Mapping[str, traffic.Maker], rounds: int = ROUNDS) -> Iterator[Row]:
    """Judge `rounds` seeded examples of every family."""
    for number, (name, make) in enumerate(families.items()):
        made = [make(np.random.default_rng([number, seed])) for seed in range(rounds)]
        judged = [judge(each, traffic.WINDOW, EVERYTHING) for each in made]
        scores = np.array([each.score if each else 0 for each in judged])
        by_rita = np.array([found.score if (found := rita(each, traffic.WINDOW)) else 0.0 for each in made])
        yield Row(
            name=name,
            connections=int(np.median([len(each) for each in made])),
            score=float(np.median(scores)) / 1e6,
            reported=float((scores >= BeaconingParameters().report_from).mean()),
            medium=float((scores >= MEDIUM).mean()),
            rita=float(np.median(by_rita)),
            rita_medium=float((by_rita >= RITA_MEDIUM).mean()),
        )


def _recorded() -> Iterator[str]:
    yield "| day | key | connections | score | RITA |\n|---|---|---|---|---|"
    for day in (1, 2):
        made, span = keys_of(day)
        judged = [(judge(each, span, EVERYTHING), key, each) for key, each in made.items()]
        found = sorted(((j.score, key, j, len(each)) for j, key, each in judged if j), reverse=True)
        for score, key, judgement, count in found[:4]:
            by_rita = judgement.numbers.get("rita_score", 0) / 1e6
            yield f"| {day} | {' '.join(map(str, key))} | {count} | {score / 1e6:.2f} | {by_rita:.2f} |"


def _table(families: Mapping[str, traffic.Maker]) -> Iterator[str]:
    yield "| family | connections | score | >= 0.40 | >= 0.60 | RITA | RITA >= 0.90 |\n|---|---|---|---|---|---|---|"
    for row in rows(families):
        yield (
            f"| {row.name} | {row.connections} | {row.score:.2f} | {row.reported:.0%} | {row.medium:.0%} "
            f"| {row.rita:.2f} | {row.rita_medium:.0%} |"
        )


def _summary() -> str:
    """Mean over families, each counting the same; precision is for as many beacons as background keys."""
    beacons, background, alike = (
        list(rows(families)) for families in (traffic.BEACONS, traffic.BACKGROUND, traffic.ALIKE)
    )
    enough = [row for row in beacons if row.connections >= 20]
    lines = [
        "| threshold | recall | recall, 20 connections or more | false alarms | precision "
        "| false alarms, update check counted | precision, update check counted |\n|---|---|---|---|---|---|---|"
    ]
    for label, attribute in (("ours, medium (0.60)", "medium"), ("RITA, medium (0.90)", "rita_medium")):
        hit, hit_enough, false, false_all = (
            float(np.mean([getattr(row, attribute) for row in chosen]))
            for chosen in (beacons, enough, background, background + alike)
        )
        lines.append(
            f"| {label} | {hit:.1%} | {hit_enough:.1%} | {false:.2%} | {hit / (hit + false):.1%} "
            f"| {false_all:.2%} | {hit / (hit + false_all):.1%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print all tables."""
    parts = [*_recorded(), ""]
    for families in (traffic.BEACONS, traffic.BACKGROUND, traffic.ALIKE):
        parts += [*_table(families), ""]
    sys.stdout.write("\n".join([*parts, _summary()]) + "\n")


if __name__ == "__main__":
    main()
