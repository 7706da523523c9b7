"""A home under a feed and under kills: what `up` must come through."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines import topics
from engines.log import TopicPartition
from engines.sqlite import open_engine
from schemas.quarantined import Quarantined
from tests.acceptance.command import casetape
from tests.faults.up.house import House, gone, until
from tests.faults.up.measures import Measures
from tests.tree import ROOT
from workers.detection.snapshot import Counts

SAMPLE_SECONDS = 5.0
PAGE = 1_000


@dataclass(frozen=True)
class Plan:
    """How long, how many lines a second and stream, and how often something is killed, rotated and sampled."""

    seconds: float
    rate: float
    kill_seconds: float
    rotate_seconds: float
    settings: Mapping[str, str]
    seed: int = 1


@dataclass(frozen=True)
class Stay:
    """What became of it. `written` and `bad`: lines of the sensor, the readable ones among them and the others."""

    home: Path
    written: int
    bad: int
    kills: list[str]
    measures: Measures


def stay(folder: Path, plan: Plan) -> Stay:
    """Runs `up` over a folder that a sensor writes into, kills a process every now and then, and stops both once
    everything is worked off."""
    logs, home = folder / "logs", folder / "home"
    logs.mkdir()
    chance = random.Random(plan.seed)
    kills: list[str] = []
    measures = Measures()
    with House(home, logs, "--workers", "2", env=plan.settings).ready() as house:
        sensor = _sensor(logs, plan)
        try:
            _through(house, plan, chance, kills, measures)
        finally:
            sensor.send_signal(signal.SIGTERM)
            said, _ = sensor.communicate(timeout=60)
        lines: dict[str, list[int]] = json.loads(said)
        written, bad = (sum(one[place] for one in lines.values()) for place in (0, 1))
        until(lambda: _handled(house) >= written - bad, 600)
        house.stop()
    return Stay(home, written - bad, bad, kills, measures)


def _sensor(logs: Path, plan: Plan) -> subprocess.Popen[bytes]:
    args = [str(logs), str(plan.rate), str(plan.rotate_seconds), str(plan.seed)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.up.sensor", *args],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def _through(house: House, plan: Plan, chance: random.Random, kills: list[str], measures: Measures) -> None:
    begun = time.monotonic()
    kill_at, sample_at = plan.kill_seconds, SAMPLE_SECONDS
    while (now := time.monotonic() - begun) < plan.seconds:
        if now >= kill_at:
            kills.append(_kill(house, chance))
            kill_at += plan.kill_seconds
        if now >= sample_at:
            measures.take(now, house)
            sample_at += SAMPLE_SECONDS
        time.sleep(0.1)


def _kill(house: House, chance: random.Random) -> str:
    """Kills one of the services, or `up` itself, which is then started again."""
    services = house.services()
    victim = chance.choice([*sorted(services), "up"])
    if victim == "up":
        house.killed()
        house.again()
        house.ready()
        return "up"
    os.kill(services[victim], signal.SIGKILL)
    until(lambda: gone(services[victim]))
    return victim.split()[0]


def _handled(house: House) -> int:
    """New records, for all that the workers' snapshots say."""
    number: int = house.status()["counts"]["new"]
    return number


def counts(home: Path) -> Counts:
    """What the workers have counted in all."""
    answer = casetape(home, "status", "--json")
    found: dict[str, Any] = json.loads(answer.out)
    return Counts(**found["counts"])


def quarantined_lines(home: Path) -> set[str]:
    """The ids of all that was quarantined: a line that was read twice has one."""
    found: set[str] = set()
    with open_engine(home, create=False, read_only=True) as engine:
        for partition in range(engine.log.partitions(topics.QUARANTINE)):
            at, start = TopicPartition(topics.QUARANTINE, partition), 0
            while records := engine.log.read(at, start, PAGE):
                found.update(Quarantined.parse(one.value).id for one in records)
                start = records[-1].offset + 1
    return found
