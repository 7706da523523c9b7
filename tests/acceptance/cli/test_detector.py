"""`casetape detector list`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.cli.piped import casetape

GOOD = """
from typing import ClassVar
from pydantic import BaseModel, Field
from casetape import Finding, Measure, Window, WindowedDetector
print("hello from a plug-in")

class Parameters(BaseModel):
    limit: int = Field(default=3, description="how many")
    names: list[str] = Field(default_factory=lambda: ["a"])
    needed: str

class Counting(WindowedDetector):
    name = "counting"
    version = "7"
    kinds = ("zeek.dns",)
    window = Window(7_200_000_000, 3_600_000_000)
    Parameters = Parameters

    def measure(self, observation):
        return Measure("all", ())

    def conclude(self, key, rows, span):
        return Finding("unknown", 0.1)
"""


def test_what_is_installed(tmp_path: Path) -> None:
    listed = casetape(tmp_path / "none", "detector", "list", "--json").json
    found = {one["name"]: one for one in listed["detectors"]}
    assert list(found) == ["beaconing", "dns", "recorder"]
    assert found["recorder"]["kinds"] == ["*"]
    assert found["recorder"]["window"] is None
    assert found["recorder"]["parameters"]["keep"]["default"] == ["text"]
    assert found["beaconing"]["window"] == {"length": 86400.0, "every": 21600.0}
    assert "zeek.conn" in found["beaconing"]["kinds"]
    assert found["beaconing"]["source"] == "workers.detectors.beaconing:Beaconing"
    assert listed["refused"] == []
    assert not (tmp_path / "none").exists(), "no home is needed"


def test_plugins_and_what_was_refused(tmp_path: Path) -> None:
    """Field reports, row 17: one that does not load is refused by name, the others load."""
    (tmp_path / "counting.py").write_text(GOOD)
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    answer = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path, "--json")
    found = {one["name"]: one for one in answer.json["detectors"]}
    assert found.keys() == {"beaconing", "counting", "dns", "recorder"}
    counting = found["counting"]
    assert (counting["version"], counting["source"]) == ("7", str(tmp_path / "counting.py"))
    assert counting["window"] == {"length": 7200.0, "every": 3600.0}
    assert counting["parameters"] == {
        "limit": {"default": 3, "required": False, "description": "how many", "value": 3},
        "names": {"default": ["a"], "required": False, "description": None, "value": ["a"]},
        "needed": {"default": None, "required": True, "description": None, "value": None},
    }
    (refused,) = answer.json["refused"]
    assert (refused["name"], refused["source"]) == ("broken", str(tmp_path / "broken.py"))
    assert "nothing_of_this_name" in refused["reason"]
    assert "hello from a plug-in" in answer.err, "what a plug-in prints is kept out of the data"


def test_for_people(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(GOOD)
    (tmp_path / "broken.py").write_text("raise SystemExit(3)\n")
    answer = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path)
    assert answer.code == 0
    words = (
        "beaconing",
        "recorder",
        "counting",
        "2 h every 1 h",
        "limit = 3",
        "needed (required)",
        "refused",
        "broken",
    )
    assert all(word in answer.out for word in words)


def test_the_settings_are_in_effect(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(GOOD)
    config = tmp_path / "casetape.toml"
    config.write_text(f'plugins = "{tmp_path}"\n[parameters.counting]\nlimit = 4\nneeded = "n"\n')
    env = {"CASETAPE_CONFIG": str(config), "CASETAPE_PARAMETERS__BEACONING__FEWEST_CALLS": "9"}
    listed = {one["name"]: one for one in casetape(tmp_path, "detector", "list", "--json", env=env).json["detectors"]}
    values = {name: about["value"] for name, about in listed["counting"]["parameters"].items()}
    assert values == {"limit": 4, "names": ["a"], "needed": "n"}
    assert listed["beaconing"]["parameters"]["fewest_calls"]["value"] == 9
    out = casetape(tmp_path, "detector", "list", env={**env, "CASETAPE_DETECTORS": '["counting"]'}).out
    assert all(
        word in out for word in ("limit = 4 (default 3)", 'needed = "n"', "left out", "beaconing, dns, recorder")
    )
    assert "fewest_calls" not in out


@pytest.mark.parametrize(
    "settings",
    [
        {"CASETAPE_DETECTORS": '["nonsense"]'},
        {"CASETAPE_PARAMETERS__NONSENSE__LIMIT": "3"},
        {"CASETAPE_PARAMETERS__BEACONING__NONSENSE": "3"},
        {"CASETAPE_PARAMETERS__BEACONING__FEWEST_CALLS": "many"},
    ],
    ids=str,
)
def test_settings_that_are_wrong_are_told_as_a_run_tells_them(tmp_path: Path, settings: dict[str, str]) -> None:
    listed = casetape(tmp_path / "home", "detector", "list", "--json", env=settings)
    assert (listed.code, listed.out) == (2, "")
    assert listed == casetape(tmp_path / "home", "run", "--json", env=settings)
    assert not (tmp_path / "home").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    answer = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path / "none", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "does not exist" in answer.err
