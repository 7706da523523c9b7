"""`casetape cases verify`, `reassess` and `export`."""

from __future__ import annotations

import getpass
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engines.sqlite import FILE
from engines.sqlite.batch import pack, unpack
from schemas.errors import IdMismatch
from schemas.version import StateVersion, genesis
from tests.acceptance.cli import story
from tests.acceptance.cli.piped import casetape
from tests.engine import on_servers

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, each_engine: str) -> Path:
    return story.tell(tmp_path_factory.mktemp("verify") / "home")


@pytest.fixture
def home(original: Path, tmp_path: Path) -> Path:
    """A copy to be changed."""
    if on_servers():
        return story.tell(tmp_path / "home")
    return shutil.copytree(original, tmp_path / "home")


def edit_version(home: Path, number: int, old: bytes, new: bytes) -> None:
    """Changes bytes in a version of the case as it lies in the file."""
    place = (number, story.CASE)
    with closing(sqlite3.connect(home / FILE)) as file, file:
        codec, record = file.execute(
            "SELECT record_codec, record FROM versions"
            " WHERE number = ? AND case_id = (SELECT id FROM cases WHERE key = ?)",
            place,
        ).fetchone()
        raw = unpack(codec, record)
        assert old in raw
        file.execute(
            "UPDATE versions SET record_codec = ?, record = ?"
            " WHERE number = ? AND case_id = (SELECT id FROM cases WHERE key = ?)",
            (*pack(raw.replace(old, new)), *place),
        )


def test_all_is_well(home: Path) -> None:
    answer = casetape(home, "cases", "verify", "--json")
    assert answer.json == {
        "verified": 2,
        "versions": 4,
        "contents": 7,
        "unpublished": 0,
        "pruned": 0,
        "trimmed": {},
        "faults": [],
    }
    assert casetape(home, "cases", "verify", story.SUBJECT, "--json").json["versions"] == 3
    assert "no faults" in casetape(home, "cases", "verify").out


@pytest.mark.embedded
def test_an_edit_is_found(home: Path) -> None:
    edit_version(home, 2, b'"verdict":"malicious"', b'"verdict":"benign"')
    answer = casetape(home, "cases", "verify", "--json")
    assert answer.code == 1
    report = json.loads(answer.out)
    assert {(fault["case"], fault["number"]) for fault in report["faults"]} >= {(story.CASE, 2)}
    assert all(fault["what"] for fault in report["faults"])
    assert casetape(home, "cases", "verify", story.CASE).code == 1
    assert casetape(home, "cases", "verify", story.OTHER).code == 0
    table = casetape(home, "cases", "verify")
    assert (table.code, story.CASE in table.out, "fault" in table.err) == (1, True, True)


@pytest.mark.embedded
def test_what_was_edited_is_not_shown_as_if_it_were_true(home: Path) -> None:
    edit_version(home, 3, b'"verdict":"malicious"', b'"verdict":"benign"')
    answer = casetape(home, "cases", "show", story.CASE, "--json")
    assert (answer.code, answer.out) == (1, "")
    assert f"version 3 of `{story.CASE}` is not what was written" in answer.err


def test_verify_of_what_is_not_there(home: Path) -> None:
    answer = casetape(home, "cases", "verify", "nowhere", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "there is no case `default/nowhere`" in answer.err


def test_reassess_makes_a_new_version_by_another_policy(home: Path) -> None:
    before = casetape(home, "cases", "show", story.CASE, "--json", "--at", "3").out
    option = ("--policy-option", "order=dns,beaconing")
    made = casetape(home, "cases", "reassess", story.CASE, "--policy", "trust-order", *option, "--json").json
    assert (made["case"], made["number"]) == (story.CASE, 4)
    assert made["author"] == {"kind": "person", "name": getpass.getuser(), "version": ""}
    assessment = made["assessment"]
    assert (assessment["verdict"], assessment["score"]) == ("benign", 0.05)
    assert (assessment["policy"], assessment["options"]) == ("trust-order", {"order": ["dns", "beaconing"]})
    shown = casetape(home, "cases", "show", story.CASE, "--json").json
    assert (shown["number"], shown["id"], shown["assessment"]) == (4, made["id"], assessment)
    assert casetape(home, "cases", "show", story.CASE, "--json", "--at", "3").out == before, "I2: it stays as it was"
    assert casetape(home, "cases", "verify", "--json").json["unpublished"] == 0
    last = casetape(home, "cases", "history", story.CASE, "--json").json[-1]
    assert last["added"] == {"inputs": 0, "analyses": []}
    assert (last["branches"], last["author"]["kind"]) == ([], "person")
    assert "a new assessment" in casetape(home, "cases", "history", story.CASE).out


def test_reassess_for_people(home: Path) -> None:
    out = casetape(
        home, "cases", "reassess", story.CASE, "--policy", "trust-order", "--policy-option", 'order=["dns"]'
    ).out
    assert all(word in out for word in ("version 4", "trust-order (order: dns)", "malicious", "benign", "0.9", "0.05"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([story.CASE, "--policy", "nonsense"], "there is no policy `nonsense`"),
        ([story.CASE, "--policy", "worst", "--policy-option", "k=1"], "it has no option `k`"),
        (["nowhere", "--policy", "worst"], "there is no case"),
    ],
)
def test_reassess_of_what_is_not_there(home: Path, arguments: list[str], said: str) -> None:
    answer = casetape(home, "cases", "reassess", *arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert casetape(home, "cases", "show", story.CASE, "--json").json["number"] == 3


def reverified(document: dict[str, Any]) -> int:
    """Computes an exported case anew, from nothing but the document and the published contracts; how many contents."""
    before = genesis(document["tenant"], document["subject"]).version_id()
    assert document["genesis"] == before
    contents = 0
    for number, body in enumerate(document["versions"], 1):
        version = StateVersion.load(body).proven()
        assert version.number == number
        assert version.case == document["case"]
        assert version.header.parents[0] == before
        held = [content.opened().id for content in version.contents]
        assert sorted(held) == sorted([*version.header.inputs, *version.header.analyses])
        contents += len(held)
        before = version.id
    assert document["head"] == {"number": len(document["versions"]), "id": before}
    return contents


def test_an_export_can_be_checked_elsewhere(home: Path) -> None:
    answer = casetape(home, "cases", "export", story.SUBJECT)
    assert (answer.json["format"], answer.json["case"]) == ("casetape.case", story.CASE)
    assert reverified(answer.json) == 6
    assert casetape(home, "cases", "export", story.CASE, "--json").out == answer.out


def test_its_help_names_the_schema(home: Path) -> None:
    printed = casetape(home, "cases", "export", "--help", env={"COLUMNS": "200"}).out
    (named,) = re.findall(r"schemas/jsonschema/\S+\.json", printed)
    assert (Path(__file__).parents[3] / named).is_file()


def test_an_edit_of_an_export_is_noticed(home: Path) -> None:
    document = casetape(home, "cases", "export", story.CASE).json
    text = json.dumps(document)
    assert story.SENTENCE in text
    with pytest.raises(IdMismatch, match="not the digest of its content"):
        reverified(json.loads(text.replace(story.SENTENCE, "nothing was said")))


def test_export_of_what_is_not_there(home: Path) -> None:
    answer = casetape(home, "cases", "export", "nowhere")
    assert (answer.code, answer.out) == (2, "")
    assert "there is no case" in answer.err
