"""Zeek's TSV logs become the records that its JSON writer would have written, or are quarantined by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.feed.reading import got, one
from tests.unit.feed.zeek_logs import CONN, HEAD, RECORD, ROW
from workers.feed.zeek_values import as_json, unescaped

DATA = Path(__file__).parents[2] / "fixtures" / "zeek"


def text_of(*values: bytes, kind: bytes = b"string", head: bytes = HEAD) -> list[Any]:
    """What values of one type become, in order."""
    content = head + b"#fields\tv\n#types\t" + kind + b"\n" + b"".join(value + b"\n" for value in values)
    observations, faults, _ = got(content, name="x.log")
    assert faults == []
    return [(observation.data or {}).get("v") for observation in observations]


def test_a_record_is_what_the_json_writer_writes() -> None:
    observation = one(CONN + ROW, name="anything")
    assert observation.data == RECORD
    assert (observation.kind, observation.subject, observation.at) == ("zeek.conn", "host:10.0.0.5", 1588205199824370)
    assert observation.id == one(json.dumps({**RECORD}).encode() + b"\n", name="conn.log").id


@pytest.mark.parametrize(
    ("name", "kind", "read"),
    [("conn", "conn", 8), ("http", "http", 1), ("dns", "dns", 2), ("tunnel", "tunnel", 4), ("binary", "ssh", 3)],
)
def test_real_logs_are_read_whole(name: str, kind: str, read: int) -> None:
    observations, faults, counts = got((DATA / f"{name}.log").read_bytes(), name="anything")
    assert (counts.read, faults, {one.kind for one in observations}) == (read, [], {f"zeek.{kind}"})


def test_every_type_of_a_real_log() -> None:
    assert one((DATA / "types.log").read_bytes()).data == {
        "b": True,
        "i": -42,
        "e": "SSH::LOG",
        "c": 21,
        "p": 123,
        "sn": "10.0.0.0/24",
        "a": "1.2.3.4",
        "d": 3.14,
        "t": 1342748962.114672,
        "iv": 100.0,
        "s": "hurz",
        "sc": [2, 4, 1, 3],
        "ss": ["CC", "AA", "BB"],
        "se": [],
        "vc": [10, 20, 30],
        "ve": [],
        "f": "SSH::foo\n{ \nif (0 < SSH::i) \n\treturn (Foo);\nelse\n\treturn (Bar);\n\n}",
    }


def test_real_sets_and_what_is_unset() -> None:
    data = [one.data or {} for one in got((DATA / "conn.log").read_bytes()).observations]
    assert data[0]["parents"] == ["k6kgXLOoSKl"]
    assert data[4]["parents"] == ["UWkUyAuUGXf", "k6kgXLOoSKl"]
    assert data[1]["parents"] == []
    assert "local_orig" not in data[0]
    assert "duration" not in data[3]
    dns = [one.data or {} for one in got((DATA / "dns.log").read_bytes()).observations]
    assert (dns[0]["answers"], dns[0]["TTLs"], dns[0]["AA"]) == (["This TXT record should be ignored"], [1.0], True)


def test_another_separator_and_bytes_that_are_no_utf8() -> None:
    observations = got((DATA / "binary.log").read_bytes()).observations
    assert [(one.data or {})["data"] for one in observations] == ["abc\n\\xffdef", "abc|\\xffdef", "abc\\xff|def"]


def test_bytes_become_what_the_json_writer_makes_of_them() -> None:
    lines = (DATA / "utf8.json").read_text(encoding="utf-8").splitlines()[1:]
    for written in (json.loads(line)["s"] for line in lines):
        raw = unescaped(written)
        assert as_json(raw) == written, "what the writer escaped reads back as the bytes it had"
        assert text_of(b"".join(b"\\x%02x" % byte for byte in raw)) == [written]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (rb"a\\b", "a\\b"),
        (rb"C:\x5cWindows", "C:\\Windows"),
        (rb"\\x41", "\\x41"),
        (rb"\x41\X41\x4", "A\\X41\\x4"),
        (rb"\x2d", "-"),
        (rb"\x28empty)", "(empty)"),
        (rb"\x23not a header", "#not a header"),
        (b"(empty)", ""),
        (b"-", None),
        (b"", ""),
        ("ñ".encode(), "ñ"),
        (b"raw \xc1 byte", "raw \\xc1 byte"),
        (b"\xc3\xb1\xc1", "\\xc3\\xb1\\xc1"),
        (rb"\x00", "\\x00"),
        (b"  spaces ", "  spaces "),
    ],
)
def test_text(value: bytes, text: str | None) -> None:
    content = HEAD + b"#fields\tn\tv\n#types\tcount\tstring\n" + b"1\t" + value + b"\n"
    assert one(content).data == ({"n": 1} if text is None else {"n": 1, "v": text})


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (b"set[string]", rb"a\x2cb,c", ["a,b", "c"]),
        (b"set[string]", b"-", None),
        (b"set[string]", b"(empty),x", ["", "x"]),
        (b"vector[count]", b"0,-,2", [0, None, 2]),
        (b"vector[interval]", b"1.000000,0.5", [1.0, 0.5]),
        (b"set[addr]", b"10.0.0.1,fe80::1", ["10.0.0.1", "fe80::1"]),
        (b"table[enum]", b"A::B", ["A::B"]),
        (b"vector[bool]", b"T,F", [True, False]),
        (b"double", b"nan", None),
        (b"double", b"1e-05", 1e-05),
        (b"interval", b"-1.5", -1.5),
        (b"time", b"0", 0.0),
        (b"count", b"18446744073709551615", 2**64 - 1),
        (b"int", b"-9223372036854775808", -(2**63)),
        (b"port", b"65535", 65535),
        (b"bool", b"F", False),
        (b"pattern", b"/a|b/", "/a|b/"),
    ],
)
def test_values_of_each_type(kind: bytes, value: bytes, read: Any) -> None:
    for more in (b"", b"\xc3\xb1"):  # with a neighbour that needs the careful way
        content = HEAD + b"#fields\tv\tn\n#types\t" + kind + b"\tstring\n" + value + b"\tx" + more + b"\n"
        observation = one(content)
        assert observation.data is not None
        assert observation.data.get("v") == read
        assert type(observation.data.get("v")) is type(read)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("count", "-1"),
        ("count", "+1"),
        ("count", "1_0"),
        ("count", "1.5"),
        ("count", ""),
        ("count", "18446744073709551616"),
        ("count", "١٢"),
        ("count", "9" * 5000),
        ("int", "9223372036854775808"),
        ("int", "- 1"),
        ("port", "65536"),
        ("port", "443/tcp"),
        ("bool", "true"),
        ("bool", "1"),
        ("double", "1e999"),
        ("double", "."),
        ("double", "1_0.5"),
        ("double", "9" * 400),
        ("time", "yesterday"),
        ("interval", "infinity"),
        ("addr", "10.0.0.1 "),
        ("addr", ""),
        ("subnet", "a b"),
        ("vector[count]", "1,x"),
        ("set[addr]", "10.0.0.1,,"),
    ],
)
def test_a_value_that_does_not_fit_is_quarantined_and_the_column_named(kind: str, value: str) -> None:
    head = HEAD + f"#fields\tts\tthe.column\n#types\ttime\t{kind}\n".encode()
    observations, (fault,), counts = got(head + f"1.5\t{value}\n1.5\t-\n".encode())
    assert (len(observations), counts.read, fault.line) == (1, 2, 9)
    assert str(fault.error) == f"the.column: not a value of the type {kind}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"1588205199.824370\tC1\t10.0.0.5\n", "3 columns, and the header 9: `id.resp_p` is missing"),
        (ROW[:-1] + b"\tmore\n", "10 columns, and the header 9: what comes after `tunnel_parents` has no name"),
        (b"{}\n", "1 columns"),
        (b"\0\0\0\0\n", "1 columns"),
    ],
)
def test_too_few_or_too_many_columns(line: bytes, said: str) -> None:
    observations, (fault,), counts = got(CONN + ROW + line + ROW)
    assert (len(observations), counts.read, fault.line) == (2, 3, 10)
    assert said in str(fault.error)
