"""I4: a log is the same observations whether Zeek wrote it as TSV or as JSON, so that detectors see one form."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.feed.reading import got
from tests.unit.feed.zeek_writers import Value, json_lines, tsv

DATA = Path(__file__).parents[2] / "fixtures" / "apt29-zeek"
TYPES = {
    "conn": (
        "ts:time uid:string id.orig_h:addr id.orig_p:port id.resp_h:addr id.resp_p:port proto:enum service:string "
        "duration:interval orig_bytes:count resp_bytes:count conn_state:string local_orig:bool local_resp:bool "
        "missed_bytes:count history:string orig_pkts:count orig_ip_bytes:count resp_pkts:count resp_ip_bytes:count "
        "tunnel_parents:set[string]"
    ),
    "dns": (
        "ts:time uid:string id.orig_h:addr id.orig_p:port id.resp_h:addr id.resp_p:port proto:enum trans_id:count "
        "rtt:interval query:string qclass:count qclass_name:string qtype:count qtype_name:string rcode:count "
        "rcode_name:string AA:bool TC:bool RD:bool RA:bool Z:count answers:vector[string] TTLs:vector[interval] "
        "rejected:bool"
    ),
}
KINDS = ("time", "string", "addr", "port", "count", "int", "double", "bool", "enum", "set[string]", "vector[interval]")
seconds = st.integers(0, 4 * 10**15).map(lambda micros: micros / 10**6)
texts = st.one_of(st.binary(max_size=12), st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace")))
texts = st.one_of(texts, st.sampled_from([b"", b"-", b"(empty)", b"#x", b",", b"\\x41", b"a\tb", b"\xc3\xb1", b"\xc1"]))
values: dict[str, st.SearchStrategy[Any]] = {
    "time": seconds,
    "double": seconds,
    "string": texts,
    "enum": st.sampled_from([b"tcp", b"A::B"]),
    "addr": st.sampled_from([b"10.0.0.5", b"fe80::1"]),
    "port": st.integers(0, 65535),
    "count": st.integers(0, 2**64 - 1),
    "int": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    # the empty text alone in a set is written as the empty set is: the form cannot tell them apart
    "set[string]": st.lists(texts, max_size=4).filter(lambda parts: parts != [b""]),
    "vector[interval]": st.lists(st.none() | seconds, max_size=4).filter(lambda parts: parts != [None]),
}


@st.composite
def logs(draw: st.DrawFn) -> tuple[dict[str, str], list[list[Value]]]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    columns = {"ts": "time", **{f"f{at}": kind for at, kind in enumerate(kinds)}}
    row = st.tuples(*(st.none() | values[kind] for kind in columns.values()))
    return columns, [list(one) for one in draw(st.lists(row, min_size=1, max_size=4))]


@given(logs(), st.booleans())
def test_whatever_zeek_logs(log: tuple[dict[str, str], list[list[Value]]], utf8: bool) -> None:
    columns, rows = log
    of_tsv = got(tsv("conn", columns, rows, utf8=utf8), name="x")
    of_json = got(json_lines(columns, rows), name="conn.log")
    assert of_tsv.faults == of_json.faults == []
    assert [one.data for one in of_tsv.observations] == [one.data for one in of_json.observations]
    assert [one.id for one in of_tsv.observations] == [one.id for one in of_json.observations]


def test_a_real_day_written_back_as_tsv() -> None:
    records = [json.loads(line) for line in gzip.decompress((DATA / "day1.zeek.json.gz").read_bytes()).splitlines()]
    for stream, said in TYPES.items():
        columns = dict(column.split(":", 1) for column in said.split())
        mine = [one for one in records if one["@stream"] == stream]
        rows = [[_value(one, name, kind) for name, kind in columns.items()] for one in mine]
        of_tsv, of_json = got(tsv(stream, columns, rows)), got(json_lines(columns, rows), name=f"{stream}.log")
        assert (of_tsv.counts.read, of_tsv.faults) == (len(mine), [])
        assert [one.id for one in of_tsv.observations] == [one.id for one in of_json.observations]
        assert len({one.id for one in of_tsv.observations}) > 40


def _value(record: dict[str, Any], name: str, kind: str) -> Value:
    """The day's value as Zeek had it: times in whole microseconds, which TSV keeps, and text as bytes."""
    value = record.get(name.replace(".", "_"))
    if isinstance(value, list):
        return [_one(one, kind.partition("[")[2].rstrip("]")) for one in value]
    return None if value is None else _one(value, kind)


def _one(value: Any, kind: str) -> Value:
    if kind in ("time", "interval"):
        return round(float(value), 6)
    return str(value).encode() if kind in ("string", "addr", "enum") else value
