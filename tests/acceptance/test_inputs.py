"""Whatever a sensor writes goes in: one command for Zeek, Suricata, Windows and JSON lines, and a folder of all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import casetape, closes, run
from tests.acceptance.logs import write
from tests.unit.feed.zeek_writers import Value, json_lines, tsv

FIXTURES = Path(__file__).parents[1] / "fixtures"
KINDS = """
from casetape import Finding, detector


@detector("kinds", kinds=["*"])
def kinds(observation):
    \"\"\"Says of which kinds observations came.\"\"\"
    return Finding("benign", score=0.1, fingerprint=observation.kind, title="seen")
"""
COLUMNS = {"ts": "time", "uid": "string", "id.orig_h": "addr", "id.resp_h": "addr", "id.resp_p": "port"}
ROWS: list[list[Value]] = [[1588316619.5 + at, b"C%d" % at, b"10.0.0.5", b"192.0.2.1", 443] for at in range(5)]
EVENTS = [
    json.dumps({"eventTime": 1588316619.5 + at, "eventName": "Login", "actor": {"name": "alice"}}).encode() + b"\n"
    for at in range(5)
]
MAPPING = b"""
[mappings.idp]
files = "idp-*.json"
kind = "idp.{eventName}"
time = "eventTime"
subject = "user:{actor.name}"
"""


def config(folder: Path, content: bytes) -> dict[str, str]:
    """The environment that names a settings file with this content."""
    return {"CASETAPE_CONFIG": str(write(folder / "settings.toml", [content]))}


def seen(home: Path) -> set[tuple[str, str]]:
    """By the detector of this module: which kinds of observation came, and about whom."""
    rows = casetape(home, "cases", "list", "--json").json
    shown = [casetape(home, "cases", "show", row["key"], "--json").json["analyses"] for row in rows]
    return {(row["subject"], one["fingerprint"]) for row, each in zip(rows, shown, strict=True) for one in each}


def test_a_folder_of_everything(tmp_path: Path) -> None:
    folder, plugins, home = tmp_path / "logs", tmp_path / "plugins", tmp_path / "home"
    for path in (folder / "windows", folder / "old", plugins):
        path.mkdir(parents=True)
    write(plugins / "kinds.py", [KINDS.encode()])
    write(folder / "windows" / "sigma.jsonl", [(FIXTURES / "windows" / "sigma.json").read_bytes()])
    (folder / "old" / "conn.2009-11-08.log.gz").write_bytes(
        gzip.compress((FIXTURES / "zeek" / "conn.log").read_bytes())
    )
    write(folder / "dns.json", [json_lines({**COLUMNS, "query": "string"}, [[*row, b"x.example"] for row in ROWS])])
    write(folder / "eve.json", [(FIXTURES / "suricata" / "ldap.json").read_bytes()])
    write(folder / "idp-1.json", EVENTS)
    write(folder / "README.txt", [b"these are logs\n"])
    write(folder / "other.json", [b'{"a":1}\n'])
    write(folder / "list.json", [b'[{"a":1}]\n'])
    write(folder / "events.txt", ["sixteen".encode("utf-16")])
    answer = casetape(home, "run", "--json", folder, "--plugins", plugins, env=config(tmp_path, MAPPING))
    report = answer.json
    assert (report["recorded"], report["quarantined"], report["untimed"]) == (11 + 8 + 5 + 5 + 5, 0, 0)
    assert closes(report)
    for name, why in {
        "README.txt": "text",
        "other.json": "--kind json",
        "list.json": "array",
        "events.txt": "UTF-16",
    }.items():
        assert any(name in line and why in line for line in answer.err.splitlines()), (name, answer.err)
    assert seen(home) >= {
        ("user:alice", "idp.Login"),
        ("host:labhost1", "windows.security"),
        ("host:1.1.1.1", "eve.alert"),
        ("sensor:suricata", "eve.stats"),
        ("host:192.168.3.101", "zeek.conn"),
        ("host:10.0.0.5", "zeek.dns"),
    }


def test_tsv_and_json_of_one_log_are_the_same_evidence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run(home, write(tmp_path / "as.tsv", [tsv("conn", COLUMNS, ROWS)]))["recorded"] == 5
    again = run(home, write(tmp_path / "conn.json", [json_lines(COLUMNS, ROWS)]))
    assert (again["fed"], again["recorded"], again["duplicates"]) == (5, 0, 5)


def test_row_24_a_tsv_log_that_grows_and_is_then_rotated(tmp_path: Path) -> None:
    """Field reports, row 24: new rows are seen once, though the header stands only at the beginning."""
    home, path = tmp_path / "home", tmp_path / "conn.log"
    whole = tsv("conn", COLUMNS, ROWS)
    lines = whole.splitlines(keepends=True)
    write(path, lines[:11])
    assert run(home, path)["recorded"] == 3
    write(path, [*lines[:12], lines[12][:-4]])
    grown = run(home, path)
    assert (grown["recorded"], grown["duplicates"], grown["quarantined"]) == (1, 3, 1), "the last row is cut"
    write(path, [*lines[:12], lines[12][:-1]])
    assert run(home, path)["quarantined"] == 1, "whole, as far as anybody can tell"
    write(path, lines)
    whole_now = run(home, path)
    assert (whole_now["recorded"], whole_now["duplicates"], whole_now["quarantined"]) == (1, 4, 0)
    packed = tmp_path / "conn.2020-05-01.log.gz"
    packed.write_bytes(gzip.compress(whole))
    assert run(home, packed)["duplicates"] == 5
    assert run(home, write(tmp_path / "both.log", [whole, whole]))["recorded"] == 0, "a header in the middle"


def test_a_log_without_its_header_can_be_read_once_its_columns_are_given(tmp_path: Path) -> None:
    home = tmp_path / "home"
    rows = [line for line in tsv("conn", COLUMNS, ROWS).splitlines(keepends=True) if not line.startswith(b"#")]
    path = write(tmp_path / "conn.log", rows)
    report = run(home, path)
    assert (report["quarantined"], report["recorded"], closes(report)) == (5, 0, True)
    listed = casetape(home, "quarantine", "list", "--json").json
    assert all("header (#fields) is missing" in one["reason"] and "zeek_fields" in one["reason"] for one in listed)
    fields = config(tmp_path, f'[zeek_fields]\nconn = "{" ".join(COLUMNS)}"\n'.encode())
    requeued = casetape(home, "quarantine", "requeue", "--all", "--json", env=fields).json
    assert [one["reason"] for one in requeued] == ["requeued"] * 5
    assert run(home)["recorded"] == 5
    again = casetape(home, "run", "--json", path, env=fields).json
    assert (again["fed"], again["recorded"], again["duplicates"]) == (5, 0, 5)


def test_a_quarantined_tsv_line_gets_its_header_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    whole = tsv("conn", COLUMNS, ROWS).partition(b"#close")[0]
    assert run(home, write(tmp_path / "x.log", [whole[:-1]]))["quarantined"] == 1
    (one,) = casetape(home, "quarantine", "requeue", "--all", "--json").json
    assert one["reason"] == "requeued"
    assert run(home)["recorded"] == 1
    again = run(home, write(tmp_path / "conn.json", [json_lines(COLUMNS, ROWS)]))
    assert again["duplicates"] == 5, "it became the record that its log meant"


def test_row_13_a_time_that_is_looked_for_in_the_wrong_place_is_said_loudly(tmp_path: Path) -> None:
    """Field reports, row 13: kept, counted as untimed, and said in a sentence by both verbs."""
    path = write(tmp_path / "idp-1.json", EVENTS)
    said = "idp-1.json: none of its 5 records has a time that can be used"
    for verb in ("run", "feed"):
        wrong = config(tmp_path, MAPPING.replace(b'"eventTime"', b'"published"'))
        answer = casetape(tmp_path / verb, verb, "--json", path, env=wrong)
        assert said in answer.err
        assert answer.json["untimed"] == 5
        again = casetape(tmp_path / verb, verb, "--json", path, env=config(tmp_path, MAPPING))
        assert said not in again.err
        assert (again.json["untimed"], again.json.get("recorded", again.json.get("appended"))) == (0, 5)


def test_row_5_what_a_cloud_shipper_wrapped(tmp_path: Path) -> None:
    """Field reports, row 5: unwrapped, or a clear 'unknown schema', never half read."""
    home = tmp_path / "home"
    event = {
        "event_type": "netflow",
        "timestamp": "2023-08-08T12:30:00.047170+0000",
        "src_ip": "10.0.0.5",
        "flow_id": 1,
    }
    wrapper: dict[str, Any] = {"firewall_name": "fw", "event_timestamp": "1691497800"}
    lines = [{**wrapper, "event": event}, {**wrapper, "event": {"sni": "x"}}, {**wrapper, "events": [event]}]
    report = run(home, write(tmp_path / "fw.log", [json.dumps(line).encode() + b"\n" for line in lines]))
    assert (report["recorded"], report["quarantined"], report["untimed"]) == (1, 2, 0)
    listed = casetape(home, "quarantine", "list", "--json").json
    assert {one["code"] for one in listed} == {"unknown_schema"}
    assert all(one["reason"].startswith("unknown schema") for one in listed)


@pytest.mark.parametrize(
    ("name", "content", "kind", "said"),
    [
        ("events.json", '{"EventID":1}'.encode("utf-16"), "auto", "iconv -f UTF-16 -t UTF-8"),
        ("events.json", b'[{"EventID":1}]\n', "windows", "jq -c '.[]'"),
        ("Security.evtx", b"ElfFile\0\0", "auto", "evtx_dump -o jsonl"),
        ("x.json", b'{"a":1}\n', "auto", "--kind json"),
        ("x.json", b'{"a":1}\n', "json.nothing", "no mapping `nothing` in the settings (there: idp)"),
        ("x.json", b'{"a":1}\n', "eve.alert", "json.<mapping>"),
    ],
)
def test_refusals_say_what_to_do(tmp_path: Path, name: str, content: bytes, kind: str, said: str) -> None:
    path = write(tmp_path / name, [content])
    answer = casetape(tmp_path / "home", "run", path, "--kind", kind, env=config(tmp_path, MAPPING))
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[mappings.idp]\ntiem = "x"\n', "there is no setting `mappings.idp.tiem`"),
        (b'[mappings.idp]\ntime_unit = "h"\n', "setting `mappings.idp.time_unit`"),
        (b'[mappings.idp]\nkind = "text"\n', "setting `mappings.idp.kind`"),
        (
            b'[zeek_fields]\nconn = "ts strange"\n',
            "settings.toml): the type of the column `strange` is not known",
        ),
        (
            b'[zeek_fields]\nconn = "ts uid ts"\n',
            "settings.toml): the column `ts` is there twice",
        ),
        (b'[mappings.idp]\nfils = "x"\n', "did you mean `mappings.idp.files`?"),
        (b'[mappings.idp]\nsubject = "user:{a"\n', "the brace at character 6 is not closed"),
        (b'[mappings.idp]\ntime_format = "%Q"\n', "setting `mappings.idp.time_format`"),
        (b'[subjects]\n"zeek.conn" = "host:{id.orig_h"\n', "setting `subjects.zeek.conn`"),
        (b"[parameters.beaconing]\nfewest_call = 3\n", "detector beaconing: it has no parameter `fewest_call`"),
        (b"[parameters.beaconing]\nreport_from = 0.6\n", "`report_from`: it must be a whole number (millionths)"),
        (b'[mappings."a/b"]\ntime = "x"\n', "mappings.a/b: no name for a mapping"),
    ],
)
def test_settings_that_are_wrong_are_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = write(tmp_path / "conn.log", [json_lines(COLUMNS, ROWS)])
    answer = casetape(tmp_path / "home", "run", path, env=config(tmp_path, content))
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert not (tmp_path / "home").exists()
