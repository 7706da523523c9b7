"""JSON lines of any kind: where a mapping says that time, subject, origin and kind lie, and what counts without one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.errors import UsageError
from tests.unit.feed.reading import got, one
from workers.feed.errors import UnknownKind
from workers.feed.mapping import TIMES, FieldMapping
from workers.feed.options import FeedOptions
from workers.feed.sniff import Choice, relevant, sniff

RECORD = {
    "eventTime": "2023-08-08T12:30:00Z",
    "eventName": "ConsoleLogin",
    "actor": {"name": "alice", "roles": ["admin", "dev"]},
    "a.dotted": 7,
    "source": "eu-1",
    "key": '"susp_activity"',
}
AT = 1_691_497_800_000_000


def mapped(**mapping: Any) -> FeedOptions:
    """Options with one mapping, `mine`, asked for."""
    return FeedOptions(kind="json.mine", mappings={"mine": FieldMapping(**mapping)})


def line(**fields: Any) -> bytes:
    """One record with some fields changed; ... drops one."""
    return (
        json.dumps({name: value for name, value in {**RECORD, **fields}.items() if value is not ...}).encode() + b"\n"
    )


def test_without_a_mapping() -> None:
    observation = one(line(), FeedOptions(kind="json"), name="x")
    assert (observation.kind, observation.subject, observation.origin) == ("json", "sensor:json", "json")
    assert (observation.at, observation.data) == (AT, RECORD)
    assert one(line(), FeedOptions(kind="json", subject="user:alice", origin="idp")).subject == "user:alice"
    assert one(line(), FeedOptions(kind="json", origin="idp")).subject == "sensor:idp"


@pytest.mark.parametrize("key", TIMES)
def test_where_a_time_is_looked_for(key: str) -> None:
    assert one(line(**{"eventTime": ..., key: AT // 10**6}), FeedOptions(kind="json")).at == AT


def test_the_first_of_them_counts() -> None:
    assert one(line(timestamp="2024-01-01T00:00:00Z"), FeedOptions(kind="json")).at == 1_704_067_200_000_000
    assert one(line(timestamp=None), FeedOptions(kind="json")).at == AT


def test_a_mapping() -> None:
    options = mapped(time="eventTime", subject="user:{actor.name}", origin="source", kind="idp.{eventName}")
    observation = one(line(), options, name="x")
    assert (observation.kind, observation.subject, observation.at) == ("idp.ConsoleLogin", "user:alice", AT)
    assert (observation.origin, observation.data) == ("eu-1", RECORD)
    plain = one(line(), mapped())
    assert (plain.kind, plain.subject, plain.origin) == ("json.mine", "sensor:mine", "mine")


@pytest.mark.parametrize(
    ("mapping", "value", "at"),
    [
        ({}, 1691497800, AT),
        ({}, "1691497800", AT),
        ({}, 1691497800.5, AT + 500_000),
        ({}, 1691497800000, AT),
        ({}, 1691497800000000, AT),
        ({}, 1691497800000000123, AT),
        ({"time_unit": "ms"}, 12.5, 12_500),
        ({"time_unit": "s"}, "12", 12_000_000),
        ({"time_unit": "us"}, 1691497800000000, AT),
        ({"time_unit": "ns"}, "1691497800000000000", AT),
        ({"time_unit": "ms"}, "2023-08-08T12:30:00Z", AT),
        ({"time_format": "%d/%b/%Y:%H:%M:%S %z"}, "08/Aug/2023:14:30:00 +0200", AT),
        ({"time_format": "%Y-%m-%d %H:%M:%S UTC"}, "2023-08-08 12:30:00 UTC", AT),
        ({"time_format": "%Y"}, 1691497800, AT),
    ],
)
def test_units_and_formats(mapping: dict[str, Any], value: Any, at: int) -> None:
    assert one(line(when=value), mapped(time=["nowhere", "when"], **mapping)).at == at


@pytest.mark.parametrize(
    ("mapping", "value"),
    [
        ({}, "Tuesday canary"),
        ({}, {"canary": 1}),
        ({}, True),
        ({"time_unit": "s"}, 1691497800000),
        ({"time_unit": "ms"}, "canary"),
        ({"time_format": "%Y"}, "canary"),
    ],
)
def test_an_unreadable_time_is_quarantined_and_the_path_named(mapping: dict[str, Any], value: Any) -> None:
    observations, (fault,), _ = got(line(when=AT / 10**6) + line(when=value), mapped(time="when", **mapping))
    assert (len(observations), fault.line) == (1, 2)
    assert str(fault.error).startswith("when: ")
    assert "canary" not in str(fault.error)


def test_row_13_a_time_path_that_is_nowhere_is_counted() -> None:
    """Field reports, row 13: a time only in `eventTime`, looked for elsewhere."""
    content = b"".join(line(n=at) for at in range(5))
    observations, faults, counts = got(content, mapped(time="published"))
    assert [one.flags for one in observations] == [("no_time",)] * 5
    assert (faults, counts.appended, counts.untimed) == ([], 5, 5)
    assert got(content, mapped(time=["published", "eventTime"])).counts.untimed == 0


def test_row_15_quotes_inside_a_value_are_part_of_it() -> None:
    """Field reports, row 15: the same value, and the same id, every run; an exact match needs the quotes."""
    first, again = one(line(), mapped()), one(line(), mapped())
    assert (first.data or {})["key"] == '"susp_activity"'
    assert first.id == again.id != one(line(key="susp_activity"), mapped()).id


@pytest.mark.parametrize(
    ("template", "subject"),
    [
        ("user:{actor.name}", "user:alice"),
        ("role:{actor.roles}", "role:admin"),
        ("n:{a.dotted}", "n:7"),
        ("{actor.name}@{source}", "alice@eu-1"),
        ("user:{nobody}", "sensor:mine"),
        ("user:{actor}", "sensor:mine"),
    ],
)
def test_subjects(template: str, subject: str) -> None:
    assert one(line(), mapped(subject=template)).subject == subject


def test_the_table_of_subjects_overrides_the_mapping() -> None:
    options = FeedOptions(
        kind="json.mine",
        mappings={"mine": FieldMapping(subject="user:{actor.name}")},
        subjects={"json.mine": "zone:{source}"},
    )
    assert one(line(), options).subject == "zone:eu-1"


@pytest.mark.parametrize(
    ("mapping", "fields", "said"),
    [
        ({"kind": "idp.{eventName}"}, {"eventName": ...}, "the kind by `idp.{eventName}`"),
        ({"kind": "idp.{eventName}"}, {"eventName": "canary\u0001"}, "the kind by"),
        ({"kind": "{eventName}"}, {"eventName": "canary" * 30}, "the kind by"),
        ({"origin": "source"}, {"source": {"canary": 1}}, "source: "),
        ({"subject": "user:{source}"}, {"source": "canary" * 100}, "the subject by"),
    ],
)
def test_what_cannot_be_used_is_quarantined(mapping: dict[str, Any], fields: dict[str, Any], said: str) -> None:
    observations, (fault,), _ = got(line() + line(**fields), mapped(**mapping))
    assert (len(observations), fault.line) == (1, 2)
    assert str(fault.error).startswith(said)
    assert "canary" not in str(fault.error)


def test_a_kind_out_of_a_field_with_spaces() -> None:
    assert one(line(eventName="Sign in"), mapped(kind="idp.{eventName}")).kind == "idp.Sign-in"


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "text"},
        {"kind": "a b"},
        {"kind": ""},
        {"kind": "x" * 200},
        {"time": ""},
        {"time_unit": "h"},
        {"tiem": "x"},
        {"subject": ""},
    ],
)
def test_mappings_that_cannot_be_used_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        FieldMapping(**bad)


def test_a_mapping_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"no mapping `other` in the settings \(there: mine\)"):
        FeedOptions(kind="json.other", mappings={"mine": FieldMapping()})
    with pytest.raises(UsageError, match="no name for a mapping"):
        FeedOptions(mappings={"a/b": FieldMapping()})


def test_a_file_s_name_picks_the_mapping() -> None:
    options = FeedOptions(
        mappings={
            "a": FieldMapping(files=("a*.json", "*.audit")),
            "b": FieldMapping(files="b.json"),
            "c": FieldMapping(),
        }
    )
    assert sniff(line(), "folder/a1.json", options) == Choice("json", "a")
    assert sniff(line(), "x.audit", options) == Choice("json", "a")
    assert sniff(line(), "b.json", options) == Choice("json", "b")
    for name in ("c.json", "xa1.json"):
        with pytest.raises(UnknownKind, match="say --kind json"):
            sniff(line(), name, options)
    twice = FeedOptions(mappings={"a": FieldMapping(files="*"), "b": FieldMapping(files="x*")})
    with pytest.raises(UnknownKind, match="several mappings name it: a, b"):
        sniff(line(), "x.json", twice)


def test_only_what_a_reader_looks_at_makes_a_log_another_one() -> None:
    """A mapping added later must not make every Zeek log be read anew."""
    options = FeedOptions(
        mappings={"a": FieldMapping(time="x"), "b": FieldMapping(time="y")}, zeek_fields={"conn": "ts uid"}
    )
    assert relevant(options, Choice("zeek", None)).chosen() == {}
    assert relevant(options, Choice("zeek-tsv", None)).chosen() == {"zeek_fields": {"conn": "ts uid"}}
    assert relevant(options, Choice("json", "a")).chosen() == {"mappings": {"a": {"time": ["x"]}}}


def test_mappings_are_recorded_and_read_back() -> None:
    options = FeedOptions(
        kind="json.mine",
        mappings={"mine": FieldMapping(time=("a", "b"), time_unit="ms", files="*.x")},
        zeek_fields={"conn": "ts uid own:count"},
        context="#fields\tts",
    )
    chosen = json.loads(json.dumps(options.chosen()))
    assert FeedOptions.recorded(chosen) == options
