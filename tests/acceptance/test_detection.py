"""Both C2 channels of the recorded attack are found, in the case of the infected host, and little else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.acceptance.command import DAY1, DAY2, closes, current, run
from tests.acceptance.logs import Renumbering, lines, write

pytestmark = pytest.mark.usefixtures("each_engine")

MEDIUM_OR_WORSE = ("medium", "high", "critical")


class Channel(NamedTuple):
    """Source, destination and port."""

    source: str
    destination: str
    port: int


CHANNELS = (Channel("10.0.1.6", "192.168.0.4", 8443), Channel("10.0.1.5", "192.168.0.4", 443))


def _found(analyses: list[dict[str, Any]], channel: Channel) -> list[dict[str, Any]]:
    """The analyses of severity medium or worse about a channel, in the case of its source."""
    parts = (channel.source, channel.destination, str(channel.port))
    return [
        one
        for one in analyses
        if one["detector"] == "beaconing"
        and one["severity"] in MEDIUM_OR_WORSE
        and one["case"] == f"default/host:{channel.source}"
        and all(part in one["fingerprint"] for part in parts)
    ]


def _check(home: Path, channels: tuple[Channel, ...]) -> None:
    analyses = current(home)
    found = [one["fingerprint"] for channel in channels for one in _found(analyses, channel)]
    assert len(found) == len(channels)
    others = [one["fingerprint"] for one in analyses if one["severity"] in MEDIUM_OR_WORSE]
    assert len(set(others) - set(found)) <= 3
    assert all(one["evidence"]["total"] >= 6 and one["at"].startswith("2020-0") for one in analyses)


def test_both_channels_are_found(tmp_path: Path) -> None:
    report = run(tmp_path, DAY1, DAY2)
    assert closes(report)
    assert (report["fed"], report["quarantined"], report["late"], report["faults"]) == (7_804, 0, 0, 0)
    assert report["recorded"] == 5_405, "2,399 of day 2's lines are identical repeats"
    _check(tmp_path, CHANNELS)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_channels_are_found_under_other_numbers(tmp_path: Path, seed: int) -> None:
    """I4's spirit: nothing may hang on which addresses and ports they are."""
    renumbering = Renumbering(seed)
    files = [write(tmp_path / f"{day.name}.json", map(renumbering.line, lines(day))) for day in (DAY1, DAY2)]
    run(tmp_path / "home", *files)
    renamed = tuple(
        Channel(renumbering.address(one.source), renumbering.address(one.destination), renumbering.port(one.port))
        for one in CHANNELS
    )
    _check(tmp_path / "home", renamed)
