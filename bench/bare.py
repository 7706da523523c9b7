"""The bare loop that the pipeline is measured against: `json.loads` per line and the same detector objects, no more."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from schemas.observation import Observation, ObservationContent
from workers.detection.plugin import Detector
from workers.detection.registry import create, discover
from workers.detection.windowed import Measure, Rows, Span, WindowedDetector

SECOND = 1_000_000


class Bare(NamedTuple):
    """What the loop did: lines read, windows it concluded with a finding, seconds."""

    records: int
    findings: int
    seconds: float


def bare_loop(path: Path) -> Bare:
    """Reads a conn log once, as a script would: nothing is kept, nothing survives it."""
    detectors = create(discover(), None, {})
    windowed = [one for one in detectors if isinstance(one, WindowedDetector) and one.wants("zeek.conn")]
    single = [one for one in detectors if not isinstance(one, WindowedDetector) and one.wants("zeek.conn")]
    kept: dict[tuple[str, str], list[tuple[int, Measure]]] = defaultdict(list)
    started = time.perf_counter()
    records = 0
    with path.open("rb") as log:
        for line in log:
            record = json.loads(line)
            observation = Observation.model_construct(
                kind="zeek.conn", content=ObservationContent.model_construct(data=record)
            )
            _shown(single, observation)
            at = int(record["ts"] * SECOND)
            for detector in windowed:
                measure = detector.measure(observation)
                if isinstance(measure, Measure):
                    kept[detector.name, measure.key].append((at, measure))
            records += 1
    findings = sum(_concluded(detector, kept) for detector in windowed)
    return Bare(records, findings, time.perf_counter() - started)


def _shown(detectors: Sequence[Detector], observation: Observation) -> None:
    for detector in detectors:
        detector.detect(observation)


def _concluded(detector: WindowedDetector, kept: dict[tuple[str, str], list[tuple[int, Measure]]]) -> int:
    findings = 0
    every, length = detector.window.every, detector.window.length
    for (name, key), held in kept.items():
        if name != detector.name or len(held) < detector.minimum:
            continue
        held.sort(key=lambda one: one[0])
        at = np.array([one[0] for one in held], dtype=np.int64)
        numbers = np.array([one[1].numbers for one in held], dtype=np.int64)
        labels = [one[1].label for one in held]
        for end in (np.unique(at // every) * every + every).tolist():
            first, last = np.searchsorted(at, [end - length, end]).tolist()
            rows = Rows(at[first:last], numbers[first:last], labels[first:last])
            findings += detector.conclude(key, rows, Span(end - length, end)) is not None
    return findings
