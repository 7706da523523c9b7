"""`casetape quarantine`: I7, what could not be used is kept, can be looked at, and can be tried again."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from engines.log import NewRecord
from engines.topics import OBSERVATIONS
from tests import factories
from tests.acceptance.cli.piped import casetape
from tests.acceptance.command import Answer, run
from tests.engine import open_home

pytestmark = [pytest.mark.usefixtures("each_engine"), pytest.mark.long_on_servers]

NAMELESS = b'{"ts":1588316619.5,"id.orig_h":"10.0.0.5","id.orig_p":5,"id.resp_h":"10.0.0.4","id.resp_p":53}'
BROKEN = b'{"_path":"conn","ts":1588316619.5,"x":\xff\x00\x1b[31m}'
GOOD = b'{"_path":"conn","ts":1588316620.5,"id.orig_h":"10.0.0.5"}'
CASE = "default/host:10.0.0.5"
FAILING = '''
from casetape import detector


@detector("always-failing", kinds=["zeek.conn"])
def failing(observation):
    """Nothing but an error."""
    raise RuntimeError("no")
'''


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.log"
    path.write_bytes(b"\n".join([GOOD, NAMELESS, BROKEN, b""]))
    return path


@pytest.fixture
def home(tmp_path: Path, log: Path) -> Path:
    """A home with one record that names no stream, and one that is no JSON."""
    assert run(tmp_path / "home", log)["quarantined"] == 2
    return tmp_path / "home"


def listed(home: Path, *args: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = casetape(home, "quarantine", "list", "--json", *args).json
    return sorted(rows, key=lambda row: row["source"].get("line", 0))


def shown(home: Path, identifier: str) -> dict[str, Any]:
    record: dict[str, Any] = casetape(home, "quarantine", "show", identifier, "--json").json
    return record


def test_the_list(home: Path, log: Path) -> None:
    nameless, broken = listed(home)
    fields = ["id", "tenant", "what", "code", "reason", "author", "source", "at", "size", "requeued"]
    assert list(nameless) == fields
    assert nameless["source"] == {"file": str(log), "line": 2}
    assert broken["source"] == {"file": str(log), "line": 3}
    assert (nameless["tenant"], nameless["what"], nameless["code"]) == ("default", "input", "record_invalid")
    assert (nameless["author"], nameless["size"], nameless["requeued"]) == ("feed", len(NAMELESS), None)
    assert nameless["at"].endswith("Z")
    assert "names no stream" in nameless["reason"]
    assert listed(home, "--tenant", "acme") == []


def test_the_list_for_people(home: Path) -> None:
    out = casetape(home, "quarantine", "list").out
    assert all(word in out for word in ("2 records quarantined; none requeued", "names no", "record_invalid", "feed"))
    assert all(row["id"][:12] in out for row in listed(home))


def test_only_those_that_came_last(home: Path) -> None:
    last = casetape(home, "quarantine", "list", "--json").json[-1]
    assert casetape(home, "quarantine", "list", "--json", "--limit", "1").json == [last]
    out = casetape(home, "quarantine", "list", "--limit", "1").out
    assert "2 records quarantined; none requeued; the last 1, --limit N for more" in out
    assert last["id"][:12] in out
    assert casetape(home, "quarantine", "list", "--limit", "0").code == 2


@pytest.mark.parametrize("width", [80, 120])
def test_a_failure_of_a_plug_in_is_told_apart(tmp_path: Path, log: Path, width: int) -> None:
    """I9: the record went on. Its detector is named whatever the width, and counts are those of `run`."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "failing.py").write_text(FAILING)
    home, env = tmp_path / "home", {"COLUMNS": str(width)}
    ran = casetape(home, "run", log, "--plugins", plugins)
    said = "2 records quarantined, 1 failure of a plug-in"
    assert (ran.code, f"{said}: see `casetape quarantine list`" in ran.err) == (0, True)
    out = casetape(home, "quarantine", "list", env=env).out
    assert f"{said}; none requeued" in out
    assert re.search(r"\balways-failing\b", out), out
    assert max(map(len, out.splitlines())) <= width
    assert ("bytes" in out) == (width == 120)


def test_text_is_shown_as_text_and_bytes_as_bytes(home: Path) -> None:
    nameless, broken = (shown(home, row["id"]) for row in listed(home))
    assert (nameless["text"], base64.b64decode(nameless["payload"])) == (NAMELESS.decode(), NAMELESS)
    assert (broken["text"], base64.b64decode(broken["payload"])) == (None, BROKEN)
    assert (broken["cut"], broken["subject"]) == (False, None)
    text = casetape(home, "quarantine", "show", nameless["id"]).out
    assert "".join(text.split()).endswith(NAMELESS.decode())
    dump = casetape(home, "quarantine", "show", broken["id"]).out
    assert "in hexadecimal" in dump
    assert '00000020  35 2c 22 78 22 3a ff 00 1b 5b 33 31 6d 7d        5,"x":...[31m}' in dump
    assert "\x1b" not in dump
    assert "\x00" not in dump


def test_the_beginning_of_an_id_is_enough(home: Path) -> None:
    row = listed(home)[0]
    assert shown(home, row["id"][:14])["id"] == row["id"]
    assert shown(home, row["id"][4:14])["id"] == row["id"], "without its prefix"
    assert shown(home, row["id"][:12] + "\u2026")["id"] == row["id"], "as tables print it"


def refused(answer: Answer, said: str) -> None:
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_what_names_no_record_or_several(home: Path) -> None:
    refused(casetape(home, "quarantine", "show", "qua_nothing"), "nothing quarantined has the id `qua_nothing`")
    refused(casetape(home, "quarantine", "show", "qua_"), "the beginning of 2 ids")
    refused(casetape(home, "quarantine", "requeue", "qua_nothing", "--json"), "nothing quarantined has the id")
    refused(casetape(home, "quarantine", "requeue"), "--all")
    refused(casetape(home, "quarantine", "requeue", "x", "--all"), "--all")


def test_what_still_cannot_be_used_is_exit_1(home: Path) -> None:
    answer = casetape(home, "quarantine", "requeue", "--all", "--json")
    assert answer.code == 1
    became = json.loads(answer.out)
    assert {one["id"] for one in became} == {row["id"] for row in listed(home)}
    assert all(one["observation"] is None and one["reason"] for one in became)
    assert [row["requeued"] for row in listed(home)] == [None, None]
    assert casetape(home, "quarantine", "requeue", "--all").code == 1


def test_a_round_trip(home: Path) -> None:
    """What is requeued is worked off by the next run, and only once."""
    nameless, broken = listed(home)
    (became,) = casetape(home, "quarantine", "requeue", nameless["id"], "--kind", "zeek.conn", "--json").json
    assert became["id"] == nameless["id"]
    assert became["observation"].startswith("inp_")
    again, still = listed(home)
    assert again["requeued"]["observation"] == became["observation"]
    assert again["requeued"]["at"].endswith("Z")
    assert still == broken
    assert became["observation"] in casetape(home, "quarantine", "show", nameless["id"]).out.replace("\n", "")
    report = run(home)
    assert (report["backlog"], report["recorded"], report["quarantined"]) == (1, 1, 0)
    repeated = casetape(home, "quarantine", "requeue", nameless["id"], "--kind", "zeek.conn")
    assert (repeated.code, "requeued" in repeated.out) == (0, True)
    assert (run(home)["recorded"], run(home)["duplicates"]) == (0, 0)
    left = casetape(home, "quarantine", "requeue", "--all", "--json")
    assert [one["id"] for one in json.loads(left.out)] == [broken["id"]], "all means all that were not requeued yet"


def test_what_is_open_and_what_is_not(home: Path) -> None:
    nameless, broken = listed(home)
    assert casetape(home, "quarantine", "requeue", nameless["id"], "--kind", "zeek.conn").code == 0
    assert listed(home, "--open") == [broken]
    assert "2 records quarantined; 1 requeued" in casetape(home, "quarantine", "list").out
    assert nameless["id"][:12] not in casetape(home, "quarantine", "list", "--open").out
    assert casetape(home, "quarantine", "requeue", broken["id"], "--kind", "text", "--subject", "x").code == 1


def test_choices_that_fit_nothing_are_wrong_also_where_nothing_waits(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home)
    for choice in (("--kind", "bogus"), ("--kind", "auto"), ("--subject", " x")):
        refused(casetape(home, "quarantine", "requeue", "--all", *choice), choice[0].removeprefix("--"))
    assert casetape(home, "quarantine", "requeue", "--all").out == "nothing is waiting to be requeued\n"
    assert casetape(home, "quarantine", "list").out == "nothing is quarantined\n"
    assert casetape(home, "quarantine", "list", "--open").out == "nothing is quarantined and not requeued\n"
    assert casetape(home, "quarantine", "list", "--tenant", "acme").out == "nothing of tenant acme is quarantined\n"


def test_a_text_is_requeued_into_its_case(home: Path) -> None:
    nameless, _ = listed(home)
    choices = ("--kind", "text", "--subject", "host:10.0.0.5")
    (became,) = casetape(home, "quarantine", "requeue", nameless["id"], *choices, "--json").json
    run(home)
    (held,) = casetape(home, "cases", "show", CASE, "--json").json["inputs"]
    assert (held["id"], held["text"]) == (became["observation"], NAMELESS.decode())


def test_a_record_of_a_topic_says_where_it_lies(tmp_path: Path) -> None:
    """A record whose key and body disagree (I8) is quarantined by the worker, and refused again."""
    home = tmp_path / "home"
    run(home)
    stray = factories.observation(tenant="acme")
    with open_home(home) as engine:
        engine.log.append(OBSERVATIONS, [NewRecord(factories.CASE, stray.encode())])
    assert run(home)["quarantined"] == 1
    (row,) = listed(home)
    assert (row["what"], row["code"], row["tenant"]) == ("record", "tenant_mismatch", "default")
    place = row["source"]
    assert (place["topic"], place["offset"]) == ("observations", 0)
    out = casetape(home, "quarantine", "list", env={"COLUMNS": "400"}).out
    assert f"observations[{place['partition']}]@0" in out
    answer = casetape(home, "quarantine", "requeue", row["id"], "--json")
    assert (answer.code, json.loads(answer.out)[0]["observation"]) == (1, None)
