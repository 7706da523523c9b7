"""`casetape demo`: what `make demo` shows."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path
from typing import Any

import pytest

from casetape.cli.demo import DATA, SENTENCE, SUBJECT
from tests.acceptance.cli.piped import casetape, environment
from tests.acceptance.command import Answer, command


def demo(folder: Path, *args: str | Path, home: Path) -> Answer:
    """Runs the demo from a folder, with `home` as the user's own home."""
    done = subprocess.run(
        command("demo", *args), cwd=folder, env=environment(home), capture_output=True, text=True, check=False
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(folder: Path) -> Answer:
    return demo(folder, home=folder / "own")


def timeline(home: Path) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = casetape(home, "cases", "history", SUBJECT, "--json").json
    return steps


def test_it_shows_the_cases_a_timeline_and_a_difference(shown: Answer) -> None:
    assert shown.code == 0, shown.err
    assert SENTENCE in shown.out
    for typed in (
        "run",
        "feed -",
        "cases list",
        f"cases history {SUBJECT}",
        f"cases diff {SUBJECT} 1 ",
        "cases verify",
    ):
        assert f"casetape {typed}" in shown.out
    assert all(word in shown.out for word in ("2 cases", "host:10.0.1.5", "+ 1 input", "superseded", "no faults"))


def test_the_case_it_shows_has_a_history(folder: Path, shown: Answer) -> None:
    """At least three versions, the sentence among them, and an assessment that changes with what is known."""
    steps = timeline(folder / "demo-home")
    assert len(steps) >= 3
    assert len({step["score"] for step in steps}) >= 2
    inputs = casetape(folder / "demo-home", "cases", "show", SUBJECT, "--json").json["inputs"]
    assert [one["text"] for one in inputs if one["kind"] == "text"] == [SENTENCE]
    current = casetape(folder / "demo-home", "cases", "show", SUBJECT, "--json").json["analyses"]
    assert "beacon 10.0.1.6 -> 192.168.0.4:8443" in {one["fingerprint"] for one in current}


def test_it_leaves_the_users_own_home_and_settings_alone(folder: Path, shown: Answer) -> None:
    assert sorted(one.name for one in folder.iterdir()) == ["demo-home"]


def test_its_last_words_can_be_typed(folder: Path, shown: Answer) -> None:
    """The command is named as it can be started from here, whether its folder is on the PATH or not."""
    *_, hint, _, _ = shown.out.rstrip().splitlines()
    done = subprocess.run(
        ["sh", "-c", hint], cwd=folder, env=environment(folder / "own"), capture_output=True, text=True, check=False
    )
    assert (done.returncode, SUBJECT in done.stdout) == (0, True), done.stderr


def test_it_replaces_what_it_made_before(folder: Path, shown: Answer) -> None:
    again = demo(folder, home=folder / "own")
    assert again.code == 0, again.err
    assert len(timeline(folder / "demo-home")) == len([line for line in shown.out.splitlines() if "ver_" in line])


@pytest.mark.parametrize("name", ["casetape.db", "casetape.toml", "notes.txt"])
def test_it_touches_nothing_that_it_did_not_make(tmp_path: Path, name: str) -> None:
    home = tmp_path / "mine"
    home.mkdir()
    (home / name).write_text("precious")
    answer = demo(tmp_path, "--home", home, home=tmp_path / "own")
    assert (answer.code, answer.out) == (2, "")
    assert f"{home} holds what the demo did not make" in answer.err
    assert {one.name: one.read_text() for one in home.iterdir()} == {name: "precious"}


def test_its_data_is_small_and_has_its_licence() -> None:
    held = {one.name: one.stat().st_size for one in DATA.iterdir() if one.is_file()}
    assert {"LICENSE", "SOURCE.md", "cut.py"} <= held.keys()
    assert 0 < sum(size for name, size in held.items() if name.endswith(".gz")) < 100_000


def test_its_data_is_cut_from_the_logs_as_documented(tmp_path: Path) -> None:
    (tmp_path / "cut.py").write_bytes((DATA / "cut.py").read_bytes())
    logs = Path(__file__).parents[2] / "fixtures" / "apt29-zeek"
    subprocess.run([command()[0], tmp_path / "cut.py", logs], check=True)
    for made in sorted(tmp_path.glob("*.gz")):
        assert gzip.decompress(made.read_bytes()) == gzip.decompress((DATA / made.name).read_bytes())
    assert len(list(tmp_path.glob("*.gz"))) == len(list(DATA.glob("*.gz"))) == 3
