"""Suricata's EVE: whom a record is about, and the same record from whatever a shipper wrapped it in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.observation import Observation
from tests.unit.feed.reading import got, one
from workers.feed.options import FeedOptions

DATA = Path(__file__).parents[2] / "fixtures" / "suricata"
EVENT = {
    "timestamp": "2023-08-08T12:30:00.047170+0000",
    "flow_id": 1,
    "event_type": "netflow",
    "src_ip": "10.0.0.5",
    "src_port": 50123,
    "dest_ip": "192.0.2.1",
    "dest_port": 443,
    "proto": "TCP",
    "netflow": {"pkts": 1, "bytes": 60},
}
AT = 1_691_497_800_047_170
TEXT = json.dumps(EVENT)
EVE = FeedOptions(kind="eve")


def event(**fields: Any) -> bytes:
    """One line: a record with some fields changed; ... drops one."""
    return json.dumps({name: value for name, value in {**EVENT, **fields}.items() if value is not ...}).encode() + b"\n"


def real(name: str) -> list[Observation]:
    """What a file of real records becomes."""
    observations, faults, _ = got((DATA / f"{name}.json").read_bytes(), name="eve.json")
    assert faults == []
    return observations


def test_real_records_come_back_as_they_were() -> None:
    for path in sorted(DATA.glob("*.json")):
        lines = path.read_bytes().splitlines()
        observations, faults, counts = got(path.read_bytes(), name="x")
        assert (counts.read, faults) == (len(lines), [])
        assert [one.data for one in observations] == [json.loads(line) for line in lines]
        assert [one.kind for one in observations] == [f"eve.{json.loads(line)['event_type']}" for line in lines]


def test_a_dns_answer_is_about_the_client_in_every_version() -> None:
    assert {one.subject for one in real("dns")} == {"host:10.16.1.11"}
    later = event(event_type="dns", src_port=949, dest_port=53, dns={"version": 2, "type": "answer"})
    assert one(later).subject == "host:10.0.0.5"
    old = {"event_type": "dns", "src_port": 53, "dest_port": 53}
    assert one(event(**old, dns={"type": "answer"})).subject == "host:192.0.2.1"
    assert one(event(**old, dns={"type": "query"})).subject == "host:10.0.0.5"
    assert one(event(**old, dns={"version": 3, "type": "response"})).subject == "host:10.0.0.5"


def test_alerts_both_ways_are_about_the_originator_of_their_flow() -> None:
    observations = real("ldap")
    assert [one.subject for one in observations] == ["host:1.1.1.1"] * 4 + ["sensor:suricata"]
    assert real("alert")[0].subject == "host:10.16.1.11", "an answer's packet, by its ports"


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({}, "host:10.0.0.5"),
        ({"event_type": "alert"}, "host:10.0.0.5"),
        ({"event_type": "alert", "direction": "to_client"}, "host:192.0.2.1"),
        ({"event_type": "alert", "direction": "to_server", "src_port": 80}, "host:10.0.0.5"),
        ({"event_type": "alert", "direction": "to_client", "flow": {"src_ip": "10.9.9.9"}}, "host:10.9.9.9"),
        ({"event_type": "alert", "src_port": 80, "dest_port": 50000}, "host:192.0.2.1"),
        ({"event_type": "http", "src_port": 80, "dest_port": 50000}, "host:10.0.0.5"),
        ({"event_type": "alert", "src_port": 80, "dest_port": 443}, "host:10.0.0.5"),
        ({"event_type": "alert", "src_port": ..., "dest_port": ...}, "host:10.0.0.5"),
        ({"event_type": "stats", "src_ip": ..., "host": "ids-1"}, "sensor:ids-1"),
    ],
)
def test_the_originator(fields: dict[str, Any], subject: str) -> None:
    assert one(event(**fields)).subject == subject


def test_a_file_is_about_who_received_it() -> None:
    assert real("fileinfo")[0].subject == "host:10.16.1.11"


def test_options_and_the_table_come_first() -> None:
    assert one(event(), FeedOptions(subject="case 7")).subject == "case 7"
    table = FeedOptions(subjects={"eve.netflow": "flow:{flow_id}"})
    assert one(event(), table).subject == "flow:1"
    assert one(event(event_type="flow"), table).subject == "host:10.0.0.5"


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2023-08-08T12:30:00.047170+0000", AT),
        ("2023-08-08T14:30:00.047170+0200", AT),
        ("2023-08-08T12:30:00.047170+00:00", AT),
        ("2023-08-08T12:30:00.047170Z", AT),
        (None, None),
    ],
)
def test_times(written: Any, at: int | None) -> None:
    assert one(event(timestamp=written)).at == at


def test_row_4_an_offset_in_words() -> None:
    bad = event(timestamp="2020-06-28T09:56:08.167548Eastern Daylight Time")
    observations, (fault,), _ = got(event() + bad + event(flow_id=2))
    assert len(observations) == 2
    assert str(fault.error) == "timestamp: neither a number of seconds nor an ISO 8601 time"


WRAPPED: dict[str, Any] = {
    "AWS Network Firewall": {
        "firewall_name": "fw",
        "availability_zone": "us-east-1a",
        "event_timestamp": "1691497800",
        "event": EVENT,
    },
    "Splunk HEC": {"time": 1691497801.5, "host": "fw", "sourcetype": "suricata", "event": EVENT},
    "an Elasticsearch hit": {"_index": "ids", "_source": {"host": {"name": "fw"}, "message": TEXT}},
    "Filebeat": {"@timestamp": "2023-08-08T12:30:01.000Z", "host": {"name": "fw"}, "message": TEXT},
    "Filebeat, json target": {"@timestamp": "2023-08-08T12:30:01.000Z", "host": {"name": "fw"}, "json": EVENT},
    "Filebeat, suricata.eve": {
        "@timestamp": "2023-08-08T12:30:01Z",
        "host": {"name": "fw"},
        "suricata": {"eve": EVENT},
    },
    "Elastic Agent": {"event": {"original": TEXT, "kind": "event"}, "host": {"name": "fw"}},
    "Fluent Bit": {"date": 1691497801.5, "log": TEXT + "\n", "hostname": "fw"},
    "Docker": {"log": TEXT + "\n", "stream": "stdout", "time": "2023-08-08T12:30:01Z", "hostname": "fw"},
    "Vector": {"file": "/eve.json", "host": "fw", "message": TEXT, "timestamp": "2023-08-08T12:30:01Z"},
    "Google Cloud Logging": {"insertId": "x", "jsonPayload": EVENT, "hostname": "fw"},
    "CloudWatch Logs Insights": {"@timestamp": "2023-08-08 12:30:01.000", "@message": TEXT, "hostname": "fw"},
    "journald": {"MESSAGE": TEXT, "_HOSTNAME": "fw"},
    "Splunk export": {"preview": False, "result": {"_raw": TEXT, "host": "fw"}},
    "two of them": {"hostname": "fw", "log": json.dumps({"message": TEXT})},
}


@pytest.mark.parametrize("shipper", WRAPPED)
@pytest.mark.parametrize("kind", ["auto", "eve"])
def test_row_5_what_a_shipper_wrapped_is_the_record_itself(shipper: str, kind: str) -> None:
    """Field reports, row 5: the record's own time, not the wrapper's; the wrapper's name for the sensor."""
    observation = one(json.dumps(WRAPPED[shipper]).encode(), FeedOptions(kind=kind), name="x")
    assert (observation.data, observation.kind, observation.at) == (EVENT, "eve.netflow", AT)
    assert (observation.subject, observation.origin) == ("host:10.0.0.5", "fw")


def test_the_same_record_plain_and_wrapped_is_the_same_observation() -> None:
    plain = one(event(), FeedOptions(origin="fw"))
    assert {one(json.dumps(each).encode()).id for each in WRAPPED.values()} == {plain.id}


@pytest.mark.parametrize(
    "prefix",
    [
        b"2023-08-08T12:30:00.047170000Z stdout F ",
        b"2023-08-08T12:30:00.047170000+02:00 stderr F:x ",
        b"<141>Aug  8 12:30:00 fw suricata[123]: ",
        b"Aug  8 12:30:00 fw suricata[123]: @cee: ",
        b"2023-08-08T12:30:00+00:00 fw suricata: ",
    ],
)
def test_prefixes_of_kubernetes_and_syslog(prefix: bytes) -> None:
    assert one(prefix + event(), name="x").data == EVENT


def test_a_part_of_a_line_is_quarantined() -> None:
    observations, (fault,), _ = got(event() + b"2023-08-08T12:30:00.047170000Z stdout P " + event())
    assert (len(observations), "has cut" in str(fault.error)) == (1, True)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"firewall_name": "fw", "event_timestamp": "1691497800", "event": {"sni": "x"}}, "unknown_schema"),
        ({"suricata": {"eve": {"event_type": "alert"}}, "source": {"ip": "10.0.0.5"}}, "unknown_schema"),
        ({"data": {**EVENT, "flow_id": "1"}, "rule": {"level": 3}}, "unknown_schema"),
        ({"message": "a sentence"}, "unknown_schema"),
        ({"event_type": 7, "timestamp": 1}, "unknown_schema"),
        ({"event_type": "user_login"}, "unknown_schema"),
        ({"message": TEXT[:-9]}, "record_invalid"),
        ({"message": {"message": {"message": {"message": {"message": EVENT}}}}}, "unknown_schema"),
        ({**EVENT, "event_type": "a/b"}, "record_invalid"),
        ({**EVENT, "src_ip": 5}, "record_invalid"),
        ({**EVENT, "host": ["x"]}, "record_invalid"),
        ([EVENT], "record_invalid"),
    ],
)
def test_anything_else_is_quarantined_and_never_half_read(line: Any, code: str) -> None:
    observations, (fault,), counts = got(event() + json.dumps(line).encode() + b"\n" + event(flow_id=2), EVE)
    assert (len(observations), counts.read, fault.line, fault.error.code) == (2, 3, 2, code)
    assert "10.0.0.5" not in str(fault.error)


@pytest.mark.parametrize("field", ["logEvents", "records", "Records"])
def test_a_list_of_records_says_that_it_must_be_taken_apart(field: str) -> None:
    line = json.dumps({"messageType": "DATA_MESSAGE", field: [{"id": "1", "timestamp": 1, "message": TEXT}]}).encode()
    (fault,) = got(line, EVE).faults
    assert (fault.error.code, f"`{field}` holds a list" in str(fault.error)) == ("unknown_schema", True)


def test_where_the_origin_comes_from() -> None:
    assert one(event(host="ids-1"), FeedOptions(origin="mine")).origin == "ids-1"
    assert one(event(), FeedOptions(origin="mine")).origin == "mine"
    assert one(event()).origin == "suricata"
    assert one(event(host={"name": "shipper"})).origin == "shipper"


class Masking:
    """Takes one field out, also inside what a shipper wrapped."""

    version = "mask-1"

    def apply(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: "***" if name == "proto" else value for name, value in record.items()}

    def apply_bytes(self, data: bytes) -> bytes:
        return data


def test_redaction_reaches_the_record_inside() -> None:
    for line in (event(), json.dumps(WRAPPED["Filebeat"]).encode()):
        (observation,) = got(line, redaction=Masking()).observations
        assert (observation.data or {})["proto"] == "***"
