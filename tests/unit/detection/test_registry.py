"""Which detectors there are: one that cannot be loaded is refused by name, the rest load."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from schemas.errors import PluginError, SettingsError, UsageError
from workers.detection import registry
from workers.detection.registry import create, discover
from workers.detection.windowed import WindowedDetector

HEAD = """
from casetape import Detector, Finding, detector
from pydantic import BaseModel
from workers.detection.windowed import Window, WindowedDetector
class Base(Detector):
    def detect(self, observation): return None
class Windowed(WindowedDetector):
    columns = ()
    def measure(self, observation): return None
    def conclude(self, key, rows, span): return None
"""


def folder(tmp_path: Path, **files: str) -> Path:
    for name, body in files.items():
        (tmp_path / f"{name}.py").write_text(body)
    return tmp_path


def refused(tmp_path: Path, body: str) -> dict[str, str]:
    """What is refused of a file beside a good one, which must load."""
    plugins = folder(tmp_path, bad=HEAD + body, good=HEAD + "class Good(Base): name = 'good'")
    found = discover(plugins)
    assert "good" in found.found
    assert {"recorder", "beaconing", "dns"} <= set(found.found)
    return {one.name: one.reason for one in found.refused}


@pytest.mark.parametrize(
    ("body", "name", "reason"),
    [
        ("import re\nre.compile('abc\\\\')", "bad", "its import raised error"),
        ("def", "bad", "its import raised SyntaxError"),
        ("raise SystemExit(3)", "bad", "its import raised SystemExit"),
        ("import nothing_of_this_name", "bad", "its import raised ModuleNotFoundError"),
        ("del Base, Windowed", "bad", "it defines no subclass of Detector"),
        ("class A(Base): name = 'a/b'", "a/b", "it has no usable name"),
        ("class A(Base): name = 5", "A", "it has no usable name"),
        ("class A(Base): name = 'x' * 129", "x" * 129, "it has no usable name"),
        ("class A(Base): name = 'person:ada'", "person:ada", "it has a person's name"),
        ("class A(Base): name = 'Person:ada'", "Person:ada", "it has a person's name"),
        ("class A(Base): name = 'a'; version = 5", "a", "its version"),
        ("class A(Base): name = 'a'; version = 'v' * 65", "a", "its version"),
        ("class A(Base): name = 'a'; kinds = 'zeek.*'", "a", "its kinds"),
        ("class A(Base): name = 'a'; kinds = ()", "a", "its kinds"),
        ("class A(Base): name = 'a'; kinds = (5,)", "a", "its kinds"),
        ("class A(Base): name = 'a'; Parameters = dict", "a", "its Parameters"),
        ("class A(Detector): name = 'a'", "a", "it has neither detect nor detect_batch"),
        ("class A(Windowed): name = 'a'; window = Window(5, 2)", "a", "its window's length"),
        ("class A(Windowed): name = 'a'; window = Window(0, 1)", "a", "its window's length"),
        ("class A(Windowed): name = 'a'; window = Window(1.0, 1.0)", "a", "its window's length"),
        ("class A(Windowed): name = 'a'; window = 5", "a", "its declaration raised TypeError"),
        ("class A(Windowed): name = 'a'; columns = 'n'", "a", "its columns"),
        ("class A(Windowed): name = 'a'; minimum = 0", "a", "its minimum"),
        ("class A(WindowedDetector): name = 'a'", "a", "it has a window but not both"),
        ("class A(Windowed): name = 'a'; early = (0, 5)", "a", "its early counts"),
        ("class A(Windowed): name = 'a'; early = (5, 5)", "a", "its early counts"),
        ("class A(Windowed): name = 'a'; early = (10, 5)", "a", "its early counts"),
        ("class A(Windowed): name = 'a'; early = (1.0,)", "a", "its early counts"),
        ("class A(Windowed): name = 'a'; early = 5", "a", "its early counts"),
        ("class A(Base):\n  name = 'a'\n  def __init__(self, p): raise KeyError(5)", "a", "its constructor raised"),
        ("class A(Base): name = 'recorder'", "recorder", "another detector has this name"),
        ("class A(Base): name = 'a'\nclass B(Base): name = 'a'", "a", "another detector has this name"),
    ],
)
def test_a_bad_one_is_refused_by_name(tmp_path: Path, body: str, name: str, reason: str) -> None:
    """First table, row 17's kind."""
    found = refused(tmp_path, body)
    assert reason in found[name]


def test_helpers_of_a_file_are_no_detectors(tmp_path: Path) -> None:
    plugins = folder(tmp_path, one=HEAD + "class A(Base): name = 'a'\nalias = A\nclass W(Windowed): name = 'w'")
    found = discover(plugins)
    assert set(found.found) == {"recorder", "beaconing", "dns", "a", "w"}
    assert list(found.refused) == []


def test_all_three_ways_to_write_one(tmp_path: Path) -> None:
    body = HEAD + (
        "class A(Base): name = 'class'\n"
        "class B(Detector):\n"
        "  name = 'batch'\n"
        "  def detect_batch(self, observations): return [None] * len(observations)\n"
        "@detector('function', version='3', kinds=['text'])\n"
        "def say(observation):\n"
        "  'What it says.'\n"
        "  return Finding('benign', 0.0)\n"
    )
    found = discover(folder(tmp_path, all=body))
    assert {"class", "batch", "function"} <= set(found.found)
    kind = found.found["function"].kind
    assert (kind.version, tuple(kind.kinds), kind.__doc__) == ("3", ("text",), "What it says.")
    assert found.found["function"].source == str(tmp_path / "all.py")
    assert kind().wants("text")
    assert not kind().wants("text.more")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(UsageError, match="plug-in folder"):
            discover(path)


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "broken": "nothing_of_this_name:Detector",
        "leaves": "tests.unit.detection.leaves:Detector",
        "none": "schemas.scales:HOUR",
        "base": "workers.detection.windowed:WindowedDetector",
        "good": "workers.detectors.recorder:Recorder",
    }
    points = [EntryPoint(name, value, registry.GROUP) for name, value in values.items()]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
    found = discover()
    assert set(found.found) == {"recorder"}
    reasons = {one.source: one.reason for one in found.refused}
    assert set(reasons) == {value for name, value in values.items() if name != "good"}
    assert "SystemExit" in reasons["tests.unit.detection.leaves:Detector"]
    assert reasons["schemas.scales:HOUR"] == "it is not a subclass of Detector"


def test_create(tmp_path: Path) -> None:
    body = HEAD + (
        "class P(BaseModel, extra='forbid'):\n  least: int\n"
        "class A(Base):\n"
        "  name = 'a'\n"
        "  Parameters = P\n"
        "  def __init__(self, parameters):\n"
        "    super().__init__(parameters)\n"
        "    1 / parameters.least\n"
    )
    found = discover(folder(tmp_path, one=body))
    made = create(found, None, {"a": {"least": 2}})
    assert [one.name for one in made] == ["a", "beaconing", "dns", "recorder"]
    assert [one.name for one in create(found, ["recorder", "recorder"], {})] == ["recorder"]
    digests = {create(found, ["a"], {"a": {"least": n}})[0].parameters_digest for n in (2, 3)}
    assert len(digests) == 2
    for parameters, says in (
        ({}, "detector a, parameter `least`: it is missing"),
        ({"least": "x"}, "detector a, parameter `least`: it must be a whole number"),
        ({"least": 1, "leest": 1}, "detector a: it has no parameter `leest`; did you mean `least`? It has: least"),
        ({"least": 1, "xyz": 1}, "detector a: it has no parameter `xyz`; it has: least"),
    ):
        with pytest.raises(SettingsError) as caught:
            create(found, ["a"], {"a": parameters})
        assert str(caught.value) == says
    with pytest.raises(PluginError, match="detector a could not be made: ZeroDivisionError"):
        create(found, ["a"], {"a": {"least": 0}})
    with pytest.raises(UsageError, match="no detector `b`; there are: a, beaconing, dns, recorder"):
        create(found, ["b"], {})
    with pytest.raises(UsageError, match="no detector `c`"):
        create(found, ["recorder"], {"c": {}})


def test_a_number_is_told_with_its_unit() -> None:
    for name, value, says in (
        ("report_from", 0.6, "it must be a whole number (millionths)"),
        ("report_from", 2_000_000, "it must be at most 1000000 (millionths)"),
        ("shortest_span", 0, "it must be at least 1 (microseconds)"),
        ("fewest_calls", 3, "it must be at least 6"),
    ):
        with pytest.raises(SettingsError) as caught:
            create(discover(), ["beaconing"], {"beaconing": {name: value}})
        assert str(caught.value) == f"detector beaconing, parameter `{name}`: {says}"


def test_the_base_says_what_is_missing() -> None:
    class Bare(WindowedDetector):
        name = "bare"

    with pytest.raises(PluginError, match="no measure"):
        Bare().measure(None)  # type: ignore[arg-type]  # the base does not look at it
    with pytest.raises(PluginError, match="no conclude"):
        Bare().conclude("k", None, None)  # type: ignore[arg-type]  # the base does not look at it
