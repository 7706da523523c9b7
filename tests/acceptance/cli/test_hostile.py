"""What observations, plug-ins and files hold is untrusted: it must neither steer a terminal nor be read as markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import factories
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape
from tests.acceptance.command import Answer, run

ANSI = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp\r\b"
MARKUP = "[red]not red[/red] [/] [link=file:///etc/passwd]here[/link]"
HOSTILE = f"{MARKUP} {ANSI}"
SUBJECT = "host:[bold red]x[/bold red]"
SAFE = set("\n") | {chr(one) for one in range(0x20, 0x7F)}


def harmless(answer: Answer) -> str:
    """Everything it printed, once that holds no character that is not visible."""
    printed = answer.out + answer.err
    assert [one for one in printed if not (one in SAFE or one.isprintable())] == []
    assert "Traceback" not in printed
    return " ".join(printed.split())


def texts(value: object) -> list[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, list) else []


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case whose every text is hostile."""
    made = tmp_path_factory.mktemp("hostile") / "home"
    record = factories.observation(data={"host": HOSTILE, "id.orig_h": HOSTILE, "id.resp_h": HOSTILE}, subject=SUBJECT)
    told = factories.observation(kind="text", text=HOSTILE, origin=HOSTILE, subject=SUBJECT)
    sides = [
        factories.analysis(
            detector=f"{verdict} {HOSTILE}",
            fingerprint=HOSTILE,
            target=HOSTILE,
            text=HOSTILE,
            verdict=verdict,
            on=(record,),
            subject=SUBJECT,
        ).model_copy(update={"title": HOSTILE, "techniques": (HOSTILE,), "numbers": {HOSTILE: 1}})
        for verdict in ("benign", "malicious")
    ]
    story.append(made, factories.branch(*(one.identified() for one in sides), record, told, author=HOSTILE))
    return made


@pytest.mark.parametrize("verb", [["show", "--all"], ["history"], ["diff"]])
def test_cases_for_people(home: Path, verb: list[str]) -> None:
    key = factories.branch(factories.observation(subject=SUBJECT)).case
    numbers = ["0", "1"] if verb == ["diff"] else []
    answer = casetape(home, "cases", verb[0], key, *numbers, *verb[1:], env={"COLUMNS": "400"})
    assert answer.code == 0
    printed = harmless(answer)
    assert "[red]not red[/red] [/] [link=file:///etc/passwd]here[/link]" in printed
    assert "\\x1b[2J" in printed
    assert "\\u202e" in printed


def test_the_list_of_cases(home: Path) -> None:
    harmless(casetape(home, "cases", "list"))


def test_json_says_the_same_in_visible_characters(home: Path) -> None:
    key = factories.branch(factories.observation(subject=SUBJECT)).case
    for verb in (["show", key], ["history", key], ["diff", key, "0", "1"], ["export", key]):
        answer = casetape(home, "cases", *verb, "--json")
        harmless(answer)
        assert HOSTILE in texts(answer.json)


def test_the_name_of_a_file_and_what_stands_in_it(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "x\x1b[31m[red].log"
    good = b'{"_path":"conn","ts":1588316619.5,"id.orig_h":"10.0.0.5"}\n'
    path.write_bytes(good + f"no JSON {HOSTILE}\n".replace("\r", "").encode())
    assert run(home, path)["quarantined"] == 1
    (row,) = casetape(home, "quarantine", "list", "--json").json
    assert row["source"]["file"] == str(path)
    printed = harmless(casetape(home, "quarantine", "list", env={"COLUMNS": "400"}))
    assert "x\\x1b[31m[red].log:2" in printed
    assert MARKUP in harmless(casetape(home, "quarantine", "show", row["id"], env={"COLUMNS": "400"}))
    harmless(casetape(home, "quarantine", "requeue", row["id"]))
    harmless(casetape(home, "run", tmp_path / "y\x1b[31m.log"))


def test_what_the_user_names(home: Path) -> None:
    for argument in ("x\x1b[31m", "[red]x[/red]", "[/]"):
        answer = casetape(home, "cases", "show", argument)
        assert (answer.code, answer.out) == (2, "")
        harmless(answer)


def test_a_plugin(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "from casetape import detector\n"
        f"print({HOSTILE!r})\n"
        f"@detector('loud', version={HOSTILE[:60]!r}, kinds=({HOSTILE!r},))\n"
        "def loud(observation): ...\n"
    )
    (tmp_path / "broken.py").write_text(f"raise ValueError({HOSTILE!r})\n")
    answer = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path, "--json")
    assert {one["version"] for one in answer.json["detectors"]} >= {HOSTILE[:60]}
    assert all(one in SAFE or one.isprintable() for one in answer.out)
    table = casetape(tmp_path / "home", "detector", "list", "--plugins", tmp_path, env={"COLUMNS": "400"})
    assert table.code == 0
    assert "\x1b" not in table.out
    assert "[red]not red" in table.out
