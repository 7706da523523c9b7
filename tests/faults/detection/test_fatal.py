"""A plug-in that ends its process, or freezes it outside Python, costs its own word on that record (I9)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import DAY1, casetape, closes, picture, shown

QUICK = {"CASETAPE_SESSION": "1", "CASETAPE_CALL": "0.5"}
NAMES = ("names", "counts")

ENDS = "os._exit(9)"
FREEZES = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}); time.sleep(10_000)"
ONE_BY_ONE = """
import os, signal, time
from casetape import Detector, Finding
class Names(Detector):
    name = "names"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        if observation.data.get("uid") == {uid!r}:
            {what}
        return Finding("unknown", 0.1, fingerprint=f"name {{observation.data.get('query')}}", title="name")
"""
WINDOWED = """
import os, signal, time
from casetape import Finding, Measure, WindowedDetector
class Counts(WindowedDetector):
    name = "counts"
    kinds = ("zeek.dns",)
    def measure(self, observation):
        return Measure(str(observation.data.get("query")), ())
    def conclude(self, key, rows, span):
        if key == {key!r}:
            {what}
        return Finding("unknown", 0.1, fingerprint=f"count {{key}}", title="count")
"""


def records() -> list[dict[str, Any]]:
    """The DNS records of the first day that name what they ask for."""
    with gzip.open(DAY1, "rt") as lines:
        read = [json.loads(line) for line in lines]
    return [one for one in read if one.get("@stream") == "dns" and one.get("query")]


def plugins(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "plugin.py").write_text(text)
    return folder


def run(home: Path, folder: Path) -> dict[str, Any]:
    answer = casetape(home, "run", DAY1, "--plugins", folder, "--json", env=QUICK)
    assert "was started again" in answer.err
    report: dict[str, Any] = answer.json
    assert closes(report)
    return report


def others(home: Path) -> dict[str, Any]:
    """What the shipped detectors said of each case."""
    found = {
        key: sorted(one["id"] for one in case["analyses"] if one["detector"] not in NAMES)
        for key, case in shown(home).items()
    }
    return {key: ids for key, ids in found.items() if ids}


@pytest.mark.parametrize("what", [ENDS, FREEZES])
def test_it_costs_its_own_word_on_that_record(tmp_path: Path, what: str) -> None:
    uids = Counter(one["uid"] for one in records())
    bad = next(one for one in records() if uids[one["uid"]] == 1)
    folder = plugins(tmp_path / "plugins", ONE_BY_ONE.format(uid=bad["uid"], what=what))
    report = run(tmp_path / "home", folder)
    assert report["faults"] == 1
    (fault, *_) = casetape(tmp_path / "home", "quarantine", "list", "--json").json
    assert fault["code"] == "plugin_fatal"
    # of all other records it has said its word
    said = {
        one["fingerprint"]
        for case in shown(tmp_path / "home").values()
        for one in case["analyses"]
        if one["detector"] == "names"
    }
    assert said == {f"name {one['query']}" for one in records() if one["uid"] != bad["uid"]}
    plain = tmp_path / "plain"
    assert casetape(plain, "run", DAY1).code == 0
    assert others(tmp_path / "home") == others(plain)


def test_it_costs_its_own_word_on_that_window(tmp_path: Path) -> None:
    key = records()[7]["query"]
    folder = plugins(tmp_path / "plugins", WINDOWED.format(key=key, what=ENDS))
    report = run(tmp_path / "home", folder)
    assert report["faults"] >= 1
    assert picture(tmp_path / "home")
    codes = {one["code"] for one in casetape(tmp_path / "home", "quarantine", "list", "--json").json}
    assert codes == {"plugin_fatal"}
