"""Every variant of Zeek JSON that people have becomes the same kind, subject, time and origin."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.record import INT64
from tests.unit.feed.reading import CONN, got, line, one
from workers.feed.options import FeedOptions

AT = 1_588_205_199_824_370
DOTS = {"id.orig_h": "10.0.0.5", "id.resp_h": "192.0.2.1"}
UNDERSCORES = {"id_orig_h": "10.0.0.5", "id_resp_h": "192.0.2.1"}
NESTED = {"id": {"orig_h": "10.0.0.5", "resp_h": "192.0.2.1"}}


@pytest.mark.parametrize("addresses", [DOTS, UNDERSCORES, NESTED])
@pytest.mark.parametrize(
    ("stream", "name", "kind"),
    [
        ({"_path": "conn"}, "anything", "auto"),
        ({"@stream": "conn"}, "anything", "auto"),
        ({}, "conn.log", "auto"),
        ({}, "conn.2020-04-30-00-00-00.log.gz", "auto"),
        ({}, "conn_20200430.log", "auto"),
        ({}, "logs/conn.00:00:00-01:00:00.log.gz", "zeek"),
        ({}, "anything", "zeek.conn"),
        ({"_path": "conn"}, "dns.log", "zeek.ssl"),
    ],
)
def test_address_and_stream_variants(addresses: dict[str, Any], stream: dict[str, str], name: str, kind: str) -> None:
    record = {**stream, "ts": 1588205199.82437, **addresses, "_extra": [1, {"a": None}]}
    observation = one(json.dumps(record).encode() + b"\n", FeedOptions(kind=kind), name=name)
    assert (observation.kind, observation.subject, observation.at) == ("zeek.conn", "host:10.0.0.5", AT)
    assert observation.data == record
    assert (observation.origin, observation.flags) == ("zeek", ())


@pytest.mark.parametrize(
    ("ts", "at"),
    [
        (1588205199.82437, AT),
        (1588205199, 1_588_205_199_000_000),
        ("1588205199.82437", AT),
        ("2020-04-30T00:06:39.824370Z", AT),
        ("2020-04-30T02:06:39.824370+02:00", AT),
        ("2020-04-30T00:06:39.824370+0000", AT),
        ("2020-04-30T00:06:39.824370", AT),
        (1588205199824, 1_588_205_199_824_000),
    ],
)
def test_time_variants(ts: Any, at: int) -> None:
    observation = one(line(ts=ts))
    assert (observation.at, observation.flags) == (at, ())


@pytest.mark.parametrize(("ts", "at"), [(0.25, 250_000), (12, 12_000_000), ("-3.5", -3_500_000), (4e9, 4 * 10**15)])
def test_an_implausible_clock_is_flagged_and_kept(ts: Any, at: int) -> None:
    observation = one(line(ts=ts))
    assert (observation.at, observation.flags) == (at, ("clock",))


@pytest.mark.parametrize("ts", [..., None, "", "-"])
def test_without_a_time_it_is_kept(ts: Any) -> None:
    observation = one(line(ts=ts))
    assert (observation.at, observation.flags) == (None, ("no_time",))


@pytest.mark.parametrize(
    "ts",
    [
        "2020-06-28T09:56:08.167548Eastern Daylight Time",
        "canary-secret",
        True,
        [1],
        {"a": 1},
        1e300,
        -1e300,
        10**400,
        "1e99",
        "2020-13-01T00:00:00Z",
    ],
)
def test_an_unreadable_time_goes_to_quarantine_and_names_the_field(ts: Any) -> None:
    observations, (fault,), _ = got(line() + line(ts=ts) + line(uid="C2"))
    assert len(observations) == 2
    assert (fault.line, fault.error.code) == (2, "record_invalid")
    assert str(fault.error).startswith("ts: ")
    assert "canary" not in str(fault.error)
    assert "Daylight" not in str(fault.error)


def test_several_streams_in_one_file() -> None:
    content = line() + line(_path="dns") + line(_path="ssl") + line(_path="my_own.stream")
    kinds = [one.kind for one in got(content).observations]
    assert kinds == ["zeek.conn", "zeek.dns", "zeek.ssl", "zeek.my_own.stream"]


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({"tx_hosts": ["192.0.2.9"], "rx_hosts": ["10.0.0.7", "10.0.0.8"], "id__orig_h": ...}, "host:10.0.0.7"),
        ({"is_orig": False}, "host:10.0.0.5"),
        ({"is_orig": True}, "host:192.0.2.1"),
        ({}, "host:10.0.0.5"),
        ({"id__orig_h": ..., "id__resp_h": ..., "rx_hosts": [], "@system": "s1"}, "sensor:s1"),
    ],
)
def test_a_file_is_about_its_first_receiver(fields: dict[str, Any], subject: str) -> None:
    assert one(line(_path="files", **fields)).subject == subject


@pytest.mark.parametrize("field", ["_system_name", "@system", "_node_name"])
def test_the_sensor_is_origin_and_the_subject_of_what_has_no_originator(field: str) -> None:
    record = {"_path": "stats", "ts": 1588205199.0, field: "sensor-7"}
    observation = one(json.dumps(record).encode(), FeedOptions(origin="mine"))
    assert (observation.subject, observation.origin) == ("sensor:sensor-7", "sensor-7")
    flow = one(json.dumps({**CONN, field: "sensor-7"}).encode())
    assert (flow.subject, flow.origin) == ("host:10.0.0.5", "sensor-7")


def test_without_a_sensor_the_option_then_zeek() -> None:
    stats = line(_path="stats", id__orig_h=...)
    assert (one(stats).subject, one(stats).origin) == ("sensor:zeek", "zeek")
    assert one(stats, FeedOptions(origin="dc-1")).subject == "sensor:dc-1"
    assert one(line(), FeedOptions(subject="case 7")).subject == "case 7"


def test_an_originator_that_is_no_address_is_still_a_subject() -> None:
    assert one(line(id__orig_h="printer.example")).subject == "host:printer.example"
    assert one(line(id__orig_h="fe80::1")).case == "default/host:fe80::1"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id__orig_h": 5}, "id.orig_h"),
        ({"id__orig_h": "10.0.0.5\u0000canary"}, "id.orig_h"),
        ({"id__orig_h": ["canary"]}, "id.orig_h"),
        ({"id_orig_h": "canary" * 200}, "id_orig_h"),
        ({"_path": 7}, "_path"),
        ({"_path": "canary/x"}, "_path"),
        ({"_path": ["canary"]}, "_path"),
        ({"@system": {"canary": 1}}, "@system"),
        ({"@system": "canary" * 100}, "@system"),
        ({"_path": "files", "rx_hosts": [{"canary": 1}]}, "rx_hosts"),
    ],
)
def test_an_unusable_field_is_named_and_its_value_is_not(fields: dict[str, Any], field: str) -> None:
    _, (fault,), _ = got(line(**fields))
    assert str(fault.error).startswith(f"{field}:") or f" {field}:" in str(fault.error)
    assert "canary" not in str(fault.error)


@pytest.mark.parametrize(
    ("template", "subject"),
    [
        ("host:{id.resp_h}", "host:192.0.2.1"),
        ("pair:{id.orig_h}>{id.resp_h}", "pair:10.0.0.5>192.0.2.1"),
        ("user:{answers}", "user:a"),
        ("user:{nobody}", "host:10.0.0.5"),
        ("fixed", "fixed"),
    ],
)
def test_the_table_of_subjects_overrides(template: str, subject: str) -> None:
    options = FeedOptions(subjects={"zeek.conn": template})
    assert one(line(answers=["a", "b"]), options).subject == subject
    assert one(line(_path="dns"), options).subject == "host:10.0.0.5"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"[1,2]", "not a JSON object"),
        (b"3", "not a JSON object"),
        (b'{"_path":"conn","a":NaN}', "not JSON"),
        (b'{"_path":"conn","a":1e400}', "infinite"),
        (b'{"_path":"conn","a":"\\ud800"}', "not JSON"),
        (b'{"_path":"conn","a":"\xc1"}', "not JSON"),
        (b'{"_path":"conn","a":' + b"[" * 130 + b"]" * 130 + b"}", "nested deeper"),
        (b'{"_path":"conn","a":' + b"[" * 1000 + b"]" * 1000 + b"}", "not JSON"),
        (b'{"_path":"conn","a":"' + b"x" * (901 * 1024) + b'"}', "at most"),
        (b'{"ts":1}', "names no stream"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
)
def test_one_bad_line_is_one_fault_and_the_rest_goes_on(bad: bytes, said: str) -> None:
    observations, (fault,), counts = got(line() + bad + b"\n" + line(uid="C2"))
    assert (len(observations), fault.line, fault.data) == (2, 2, bad)
    assert said in str(fault.error)
    assert (counts.read, counts.quarantined) == (3, 1)


def test_large_integers_and_shapes_survive() -> None:
    data = {"n": INT64 * 10**20, "f": 1e-7, "deep": {"a": [[[{"b": "\u2028"}]]]}}
    observation = one(line(**data))
    assert observation.data is not None
    assert {name: observation.data[name] for name in data} == data


def test_byte_order_mark_blank_lines_and_line_ends() -> None:
    content = b"\xef\xbb\xbf" + line().replace(b"\n", b"\r\n") + b"\n  \r\n" + line(uid="C2")
    observations, faults, counts = got(content)
    assert (len(observations), faults, counts.read) == (2, [], 2)
    assert observations[0].id == one(line()).id


def test_ids_know_nothing_of_file_names_order_and_neighbours() -> None:
    lines = [line(uid=f"C{at}", _path=stream) for at in range(4) for stream in ("conn", "dns")]
    there = {one.id for one in got(b"".join(lines), name="conn.log").observations}
    back = {one.id for one in got(b"\n".join(reversed(lines)), name="other").observations}
    assert len(there) == 8
    assert there == back
