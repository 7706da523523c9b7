"""The data sets come to the same on Kafka and Redis as in one file, with any number of workers and partitions (I4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import engine
from tests.acceptance.command import DAY1, DAY2, casetape, closes, picture
from tests.acceptance.test_dns import log

pytestmark = pytest.mark.needs_services
NAMES = """
from casetape import Detector, Finding
class Names(Detector):
    name = "names"
    kinds = ("zeek.dns",)
    def detect(self, observation):
        return Finding("unknown", 0.1, fingerprint=f"name {observation.data.get('query')}", title="name")
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The recorded attack, and names that carry data."""
    return [DAY1, DAY2, log(tmp_path_factory.mktemp("names") / "dns2tcp.log", "dns2tcp-names", "TXT")]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A detector that has a word for every name: its results come from all workers at once."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "names.py").write_text(NAMES)
    return folder


@pytest.fixture(scope="module")
def in_one_file(tmp_path_factory: pytest.TempPathFactory, data: list[Path], plugins: Path) -> dict[str, Any]:
    """What the embedded engine makes of the data sets."""
    home = tmp_path_factory.mktemp("embedded")
    assert casetape(home, "run", *data, "--plugins", plugins, "--json").code == 0
    seen = picture(home)
    assert sum(len(case["analyses"]) for case in seen.values()) > 100
    return seen


@pytest.mark.parametrize(
    ("workers", "partitions"),
    [
        *((1, 12), (2, 4), (4, 1), (4, 12)),
        *(pytest.param(*one, marks=pytest.mark.campaign) for one in ((1, 1), (1, 4), (2, 1), (2, 12), (4, 4))),
    ],
)
def test_the_same_on_servers(
    tmp_path: Path, data: list[Path], plugins: Path, in_one_file: dict[str, Any], workers: int, partitions: int
) -> None:
    with engine.chosen("cluster"):
        env = {"CASETAPE_PARTITIONS": str(partitions)}
        told = ("--plugins", plugins, "--workers", str(workers), "--json")
        answer = casetape(tmp_path, "run", *data, *told, env=env)
        assert answer.code == 0, answer.err
        assert closes(answer.json)
        assert picture(tmp_path) == in_one_file
        assert casetape(tmp_path, "cases", "verify", "--json").json["faults"] == []
