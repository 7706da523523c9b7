"""Which detectors are asynchronous, who hosts them, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from casetape.services.async_starting import async_options, wanted_async
from casetape.services.starting import wanted
from casetape.settings import Settings
from schemas.errors import UsageError
from tests.factories import observation
from workers.detection.plugin import AsyncDetector, Detector, Finding, detector, is_async
from workers.detection.registry import discover

GOOD = """
from casetape import AsyncDetector, Detector, Finding, detector
from pydantic import BaseModel


class Key(BaseModel):
    key: str


class Model(AsyncDetector):
    name = "model"
    async def detect(self, observation):
        return None


class Plain(Detector):
    name = "plain-async"
    async def detect(self, observation):
        return None


@detector("decorated")
async def decorated(observation):
    return Finding("benign", 0.0)


class Needy(AsyncDetector):
    name = "needy"
    Parameters = Key
    async def detect(self, observation):
        return None


class Usual(Detector):
    name = "usual"
    def detect(self, observation):
        return None
"""
BAD = {
    "nothing": "class One(AsyncDetector):\n    name = 'one'\n",
    "sync": "class One(AsyncDetector):\n    name = 'one'\n    def detect(self, o):\n        return None\n",
    "batch": "class One(Detector):\n    name = 'one'\n    async def detect_batch(self, o):\n        return []\n",
    "both": "class One(AsyncDetector):\n    name = 'one'\n    async def detect(self, o): ...\n"
    "    def detect_batch(self, o):\n        return []\n",
    "many": "class One(AsyncDetector):\n    name = 'one'\n    concurrency = 0\n    async def detect(self, o): ...\n",
    "window": "class One(WindowedDetector):\n    name = 'one'\n    async def detect(self, o): ...\n",
}
REASONS = {
    "nothing": "it is asynchronous and has no detect",
    "sync": "it is asynchronous, and its detect is no `async def`",
    "batch": "its detect_batch is an `async def`: only detect can be one",
    "both": "it has an `async def detect` and a detect_batch, where one of the two is due",
    "many": "its concurrency is no number of calls from 1 to 1,000",
    "window": "it has a window and an `async def detect`, where one of the two is due",
}


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


@pytest.mark.parametrize("name", BAD)
def test_one_that_does_not_fit_is_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    imports = "from casetape import AsyncDetector, Detector, WindowedDetector\n"
    (tmp_path / f"{name}.py").write_text(imports + BAD[name])
    assert [one.reason for one in discover(tmp_path).refused] == [REASONS[name]]


def test_what_is_asynchronous_is_recognised(plugins: Path) -> None:
    found = discover(plugins)
    assert not found.refused
    mine = {name for name, one in found.found.items() if is_async(one.kind)}
    assert mine == {"model", "plain-async", "decorated", "needy"}


def test_other_workers_leave_them_out_and_say_so_once(plugins: Path, tmp_path: Path) -> None:
    told: list[str] = []
    settings = Settings(home=tmp_path, plugins=plugins)
    names = {one.name for one in wanted(settings, told.append, told.append)}
    assert "usual" in names
    assert names.isdisjoint({"model", "plain-async", "decorated", "needy"})
    assert told == [
        "left out here: decorated, model, needy, plain-async; `casetape worker --async` hosts asynchronous detectors,"
        " on Kafka and Redis"
    ]


def test_an_asynchronous_worker_takes_no_others(plugins: Path, tmp_path: Path) -> None:
    told: list[str] = []
    settings = Settings(home=tmp_path, plugins=plugins, detectors=("model", "usual"))
    assert [one.name for one in wanted_async(settings, told.append, told.append)] == ["model"]
    assert told == ["left out here: usual; `casetape worker` without --async hosts what is not asynchronous"]
    everyone = Settings(home=tmp_path, plugins=plugins, parameters={"needy": {"key": "k"}})
    assert len(wanted_async(everyone, told.append, told.append)) == 4
    assert async_options(settings, "set")["stuck"] == settings.stuck


def test_no_asynchronous_detector_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no asynchronous detector to run"):
        wanted_async(Settings(home=tmp_path, detectors=("beaconing",)), print, print)


def test_a_decorated_function_keeps_its_kind() -> None:
    @detector("one", kinds=("text",))
    async def one(observation: object) -> Finding:
        return Finding("benign", 0.0)

    @detector("two")
    def two(observation: object) -> Finding:
        return Finding("benign", 0.0)

    assert issubclass(one, AsyncDetector)
    assert one.kinds == ("text",)
    assert not is_async(two)
    assert two().detect_batch([observation()]) == [Finding("benign", 0.0)]
    assert issubclass(two, Detector)
