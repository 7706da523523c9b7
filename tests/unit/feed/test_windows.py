"""Windows events as JSON, in the shapes that people have: channel, computer and time, and the record as it came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.feed.reading import got, one
from workers.feed.options import FeedOptions

DATA = Path(__file__).parents[2] / "fixtures" / "windows"
AT = 1_596_730_384_932_123
TIME = "2020-08-06T16:13:04.9321234Z"
PLAIN = {"EventID": 4624, "Channel": "Security", "Computer": "ws-5.example"}
SHAPES: dict[str, Any] = {
    "evtx_dump": {
        "Event": {
            "#attributes": {"xmlns": "x"},
            "System": {**PLAIN, "TimeCreated": {"#attributes": {"SystemTime": TIME}}},
            "EventData": {"TargetUserName": "alice"},
        }
    },
    "evtx_dump, attributes apart": {"Event": {"System": {**PLAIN, "TimeCreated_attributes": {"SystemTime": TIME}}}},
    "xmltodict, Data as a list": {
        "Event": {
            "System": {**PLAIN, "TimeCreated": {"@SystemTime": TIME}},
            "EventData": {"Data": [{"@Name": "TargetUserName", "#text": "alice"}]},
        }
    },
    "xml2js": {"Event": {"System": {**PLAIN, "TimeCreated": {"$": {"SystemTime": TIME}}}}},
    "without Event": {"System": {**PLAIN, "TimeCreated": {"SystemTime": TIME}}, "EventData": {}},
    "Winlogbeat": {
        "@timestamp": TIME,
        "winlog": {"channel": "Security", "computer_name": "ws-5.example", "event_id": "4624", "event_data": {}},
        "host": {"name": "collector"},
        "event": {"created": "2021-01-01T00:00:00Z"},
    },
    "Winlogbeat 6": {
        "@timestamp": TIME,
        "log_name": "Security",
        "event_id": 4624,
        "computer_name": "ws-5.example",
        "event_data": {},
    },
    "NXLog with a zone": {
        "EventTime": "2020-08-06T12:13:04.932123-04:00",
        "EventReceivedTime": "2021-01-01T00:00:00Z",
        "@timestamp": "2021-01-01T00:00:00Z",
        "Hostname": "ws-5.example",
        "EventID": 4624,
        "Channel": "Security",
        "host": "collector",
    },
    "OTRF": {**PLAIN, "TimeCreated": TIME, "TimeGenerated": "2020-08-06T09:13:04Z"},
    "PowerShell 7": {"Id": 4624, "LogName": "Security", "MachineName": "ws-5.example", "TimeCreated": TIME},
    "wrapped": {"hostname": "shipper", "message": json.dumps({**PLAIN, "TimeCreated": TIME})},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["auto", "windows"])
def test_shapes(shape: str, kind: str) -> None:
    observation = one(json.dumps(SHAPES[shape]).encode() + b"\n", FeedOptions(kind=kind), name="x")
    assert (observation.kind, observation.subject) == ("windows.security", "host:ws-5.example")
    assert (observation.at, observation.origin) == (AT, "windows")
    inner = json.loads(SHAPES[shape]["message"]) if shape == "wrapped" else SHAPES[shape]
    assert observation.data == inner


def test_real_events_come_back_as_they_were() -> None:
    read = 0
    for path in sorted(DATA.glob("*.json")):
        lines = path.read_bytes().splitlines()
        observations, faults, counts = got(path.read_bytes(), name="x")
        assert (counts.read, faults) == (len(lines), [])
        assert [one.data for one in observations] == [json.loads(line) for line in lines]
        assert all(one.at is not None and one.subject.startswith("host:") for one in observations)
        read += counts.read
    assert read == 13


def test_the_kinds_of_real_events() -> None:
    assert {one.kind for one in got((DATA / "sigma.json").read_bytes()).observations} == {
        "windows.security",
        "windows.microsoft-windows-sysmon/operational",
        "windows.microsoft-windows-taskscheduler/operational",
        "windows.microsoft-windows-windows-defender/operational",
    }


def test_a_wall_clock_without_a_zone_is_not_the_time() -> None:
    """Four hours lie between this computer's wall clock and UTC, as the event's own UtcTime shows."""
    observation = one((DATA / "nxlog.json").read_bytes())
    assert observation.at == 1_596_730_387_802_000
    assert (observation.data or {})["UtcTime"] == "2020-08-06 16:13:04.932"
    assert observation.subject == "host:WORKSTATION5.theshire.local", "not the collector"


@pytest.mark.parametrize(
    ("times", "at"),
    [
        ({"EventTime": "2020-08-06 12:13:04", "@timestamp": "2020-08-06T16:13:07.802Z"}, 1_596_730_387_802_000),
        ({"EventTime": "2020-08-06 12:13:04", "@timestamp": "2021-03-01T00:00:00Z"}, 1_596_715_984_000_000),
        ({"EventTime": "2020-08-06 12:13:04"}, 1_596_715_984_000_000),
        ({"EventTime": "2020-08-06T12:13:04Z", "@timestamp": "2020-08-06T16:13:07Z"}, 1_596_715_984_000_000),
        ({"@timestamp": "2020-08-06T16:13:07Z"}, 1_596_730_387_000_000),
        ({"TimeCreated": "/Date(1596730384932)/"}, 1_596_730_384_932_000),
        ({"TimeCreated": {"value": "/Date(1596730384932)/", "DateTime": "words"}}, 1_596_730_384_932_000),
        ({}, None),
    ],
)
def test_the_time_of_flat_events(times: dict[str, Any], at: int | None) -> None:
    observation = one(json.dumps({**PLAIN, **times}).encode())
    assert (observation.at, observation.flags) == (at, () if at else ("no_time",))


@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        ("Security", "windows.security"),
        ("Windows PowerShell", "windows.windows-powershell"),
        ("Microsoft-Windows-Sysmon/Operational", "windows.microsoft-windows-sysmon/operational"),
        ("Microsoft-Windows-WMI-Activity/Operational ", "windows.microsoft-windows-wmi-activity/operational"),
        ("Key Management Service", "windows.key-management-service"),
    ],
)
def test_channels(channel: str, kind: str) -> None:
    assert one(json.dumps({**PLAIN, "Channel": channel}).encode()).kind == kind


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**PLAIN, "Channel": 7}, "Channel: "),
        ({**PLAIN, "Channel": "canary\u0001"}, "Channel: "),
        ({**PLAIN, "Channel": "canary" * 30}, "Channel: "),
        ({**PLAIN, "Computer": "canary\u0001"}, "Computer: "),
        ({**PLAIN, "TimeCreated": "canary"}, "TimeCreated: "),
        ({**PLAIN, "TimeCreated": "2020-10-12T08:00:02+000001500Z"}, "TimeCreated: "),
        (
            {"Event": {"System": {**PLAIN, "TimeCreated": {"#attributes": {"SystemTime": "canary"}}}}},
            "System.TimeCreated",
        ),
        ({"Event": {"EventData": {}}}, "unknown schema"),
        ({"Channel": "Security", "canary": 1}, "unknown schema"),
        ({"records": [PLAIN]}, "`records` holds a list"),
        ({}, "unknown schema"),
        ([PLAIN], "not a JSON object"),
    ],
)
def test_what_is_no_event_is_quarantined(line: Any, said: str) -> None:
    good = json.dumps({**PLAIN, "TimeCreated": TIME}).encode() + b"\n"
    observations, (fault,), _ = got(good + json.dumps(line).encode() + b"\n", FeedOptions(kind="windows"))
    assert (len(observations), fault.line) == (1, 2)
    assert said in str(fault.error)
    assert "canary" not in str(fault.error)


def test_without_a_computer_it_is_about_the_feed() -> None:
    line = json.dumps({"EventID": 1, "Channel": "Security", "TimeCreated": TIME}).encode()
    assert one(line).subject == "sensor:windows"
    assert one(line, FeedOptions(origin="dc-logs")).subject == "sensor:dc-logs"
    table = FeedOptions(subjects={"windows.security": "id:{EventID}"})
    assert one(line, table).subject == "id:1"
