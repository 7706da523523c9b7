"""`casetape home`: where the data lies, and what takes how much room in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engines.sqlite import FILE
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape
from tests.acceptance.command import DAY1, run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("home")
    run(path, DAY1)
    return path


def use(home: Path, **env: str) -> dict[str, Any]:
    found: dict[str, Any] = casetape(home, "home", "--json", env=env).json
    return found


def named(found: dict[str, Any]) -> int:
    """The bytes of everything that has a name."""
    store = found["store"]
    sizes = [
        store["versions"],
        store["remains"],
        store["snapshots"],
        *store["windows"].values(),
        *store["notes"].values(),
    ]
    return sum(one["bytes"] for one in (*found["topics"], *sizes))


def test_it_says_what_there_is(home: Path) -> None:
    found = use(home)
    assert found["home"] == str(home)
    topics = {one["topic"]: one for one in found["topics"]}
    assert {topic: one["records"] for topic, one in topics.items()} == {
        "observations": 2_140,
        "quarantine": 0,
        **{topic: casetape(home, "cases", "verify", "--json").json["versions"] for topic in ("versions", "states")},
    }
    assert topics["observations"]["keeps"] == {"days": 7.0, "mib": None}
    assert topics["states"]["keeps"] == {"days": None, "mib": None}
    assert topics["observations"]["oldest"] <= topics["observations"]["newest"] <= topics["states"]["newest"]
    assert (topics["quarantine"]["oldest"], topics["quarantine"]["bytes"]) == (None, 0)
    store = found["store"]
    assert store["cases"] == len(casetape(home, "cases", "list", "--json").json)
    assert list(store["windows"]) == ["detect-default"]
    assert (store["notes"]["ledger"]["count"], store["pruned"], store["keeps"]) == (1, 0, {"versions": 1000})


def test_what_it_names_adds_up_to_the_file(home: Path) -> None:
    found = use(home)
    size = found["bytes"]
    assert size["file"] == (home / FILE).stat().st_size
    assert named(found) + size["free"] + size["other"] == size["data"] == size["file"]
    assert 0 < size["other"] < size["data"] / 2, "indexes and the ends of pages, of a small home"


def test_it_only_looks(home: Path) -> None:
    before = (home / FILE).read_bytes()
    files = sorted(os.listdir(home))
    use(home)
    assert (home / FILE).read_bytes() == before
    assert sorted(os.listdir(home)) == files


def test_for_people(home: Path) -> None:
    answer = casetape(home, "home", env={"CASETAPE_RETENTION_MIB": '{"observations": 1.5}'})
    assert answer.code == 0, answer.err
    for words in (str(home), "MiB on the disk", "2,140", "7 days, 1.5 MiB", "for ever", "windows of detect-default"):
        assert words in answer.out
    short = casetape(home, "home", env={"CASETAPE_RETENTION": '{"observations": 1e-05, "quarantine": 0.01}'}).out
    assert all(words in short for words in ("1 s", "14 min")), short
    assert "e-05" not in short
    narrow = casetape(home, "home", env={"COLUMNS": "60"}).out
    assert max(map(len, narrow.splitlines())) <= 60
    assert "7 days" in narrow


def test_of_a_home_that_is_not_there(tmp_path: Path) -> None:
    answer = casetape(tmp_path / "none", "home", "--json")
    assert (answer.code, answer.out) == (1, "")
    assert "there is no casetape data" in answer.err


def test_of_a_home_that_was_pruned(tmp_path: Path) -> None:
    story.tell(tmp_path / "home")
    found = use(tmp_path / "home", CASETAPE_KEEP_VERSIONS="0")
    assert (found["store"]["versions"]["count"], found["store"]["keeps"]) == (4, {"versions": None})
