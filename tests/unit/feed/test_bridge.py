"""A record of a foreign topic becomes what a line of a file would, for the bridge's tenant and nobody else's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.log import LogRecord, TopicPartition
from schemas.digests import QUARANTINED, digest
from schemas.errors import UsageError
from schemas.observation import Observation
from schemas.quarantined import PREFIX_LIMIT
from tests.unit.feed.reading import CONN, NOW, got
from workers.feed.bridge import group_of
from workers.feed.bridge_reading import Held, Reading, bridged, refused
from workers.feed.mapping import FieldMapping
from workers.feed.options import FeedOptions
from workers.feed.reader import NoRedaction, Redaction

AT = TopicPartition("their-topic", 3)
ZEEK = FeedOptions(kind="zeek")
LINES = {
    "zeek": json.dumps(CONN).encode(),
    "zeek.conn": json.dumps({name: value for name, value in CONN.items() if name != "_path"}).encode(),
    "eve": b'{"timestamp":"2020-04-30T12:00:00Z","event_type":"flow","src_ip":"10.0.0.5","dest_ip":"10.0.0.6"}',
    "windows": b'{"Channel":"Security","EventID":4624,"Computer":"WS1","SystemTime":"2020-04-30T12:00:00Z"}',
    "json": b'{"time":1588205199,"who":"alice"}',
    "json.idp": b'{"time":1588205199,"who":"alice"}',
}
MAPPINGS = {"idp": FieldMapping(subject="user:{who}")}


def read(value: bytes, options: FeedOptions = ZEEK, *, offset: int = 7, redaction: Redaction | None = None) -> Held:
    (held,) = reading(options, redaction).read(AT, [LogRecord(offset, "whoever", value, NOW)])
    return held


def reading(options: FeedOptions = ZEEK, redaction: Redaction | None = None) -> Reading:
    return Reading(bridged(options, AT.topic), redaction or NoRedaction(), None, lambda: NOW)


def observation(held: Held) -> Observation:
    assert held.record is not None
    made = Observation.parse(held.record.value).proven()
    assert held.record.key == made.case
    return made


def reason(held: Held) -> str:
    assert held.unread is not None
    assert held.record is None
    return str(held.unread.error)


@pytest.mark.parametrize("kind", LINES)
def test_i4_it_is_the_observation_that_the_line_of_a_file_is(kind: str) -> None:
    options = FeedOptions(kind=kind, mappings=MAPPINGS, origin="dmz", tenant="acme")
    (of_file,) = got(LINES[kind] + b"\n", options).observations
    held = read(LINES[kind], options)
    assert observation(held) == of_file
    assert held.time == of_file.at
    spread = json.dumps(json.loads(LINES[kind]), indent=2).encode()
    assert observation(read(spread + b"\n", options)).id == of_file.id
    assert observation(read(b"\xef\xbb\xbf" + LINES[kind], options)).id == of_file.id


@pytest.mark.parametrize("name", ["tenant", "_tenant", "key", "subject", "schema"])
def test_i8_no_record_names_its_tenant(name: str) -> None:
    hostile = json.dumps({**CONN, name: "globex", "tenant": "globex"}).encode()
    made = observation(read(hostile, FeedOptions(kind="zeek", tenant="acme")))
    assert (made.tenant, made.case) == ("acme", "acme/host:10.0.0.5")
    whole = observation(read(made.encode(), FeedOptions(kind="json", tenant="initech")))
    assert whole.tenant == "initech"
    bad = read(b"\xff", FeedOptions(kind="zeek", tenant="acme"))
    assert bad.unread is not None
    assert reading(FeedOptions(kind="zeek", tenant="acme")).quarantined(AT, 7, bad.unread).tenant == "acme"


def test_zeeks_kafka_writer_tags_records_with_their_stream() -> None:
    inner = json.loads(LINES["zeek.conn"])
    (of_file,) = got(LINES["zeek.conn"], FeedOptions(kind="zeek.conn")).observations
    assert observation(read(json.dumps({"conn": inner}).encode())) == of_file
    assert "names no stream" in reason(read(json.dumps({"conn": {"uid": "C1"}}).encode()))
    assert "names no stream" in reason(read(json.dumps({"a conn": inner}).encode()))


def test_texts_are_told_apart_by_their_places_and_a_redelivery_is_the_same() -> None:
    options = FeedOptions(kind="text", subject="x", at=5)
    first, again, other = (observation(read(b"one\ntwo\n", options, offset=at)) for at in (7, 7, 8))
    assert first == again
    assert first.id != other.id
    assert (first.text, first.subject, first.at, first.origin) == ("one\ntwo\n", "x", 5, "their-topic:3:7")
    assert not read(b"one", options).untimed


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"", "no value"),
        (b" \r\n", "blank"),
        (b"\xef\xbb\xbf", "blank"),
        (b"\xff\xfe{\0}\0", "not JSON"),
        (b"\x00\x01\x02", "not JSON"),
        (b'{"_path":"conn","uid":"\xc3("}', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"_path":"conn"}\n{"_path":"conn"}', "not JSON"),
        (b'{"_path":"conn","x":' + b"[" * 200 + b"]" * 200 + b"}", "deep"),
        (b"1588205199.8\tC1\t10.0.0.5", "TSV"),
        (b"#fields\tts\tuid", "TSV"),
        (b'{"_path":"conn","x":"' + b"y" * 1_000_000 + b'"}', "content"),
    ],
)
def test_i7_what_cannot_be_read_is_kept_with_its_bytes_and_place(value: bytes, said: str) -> None:
    held = read(value)
    assert said in reason(held)
    assert held.unread is not None
    kept = reading().quarantined(AT, 7, held.unread)
    assert kept == reading().quarantined(AT, 7, held.unread)
    assert kept.data == value[:PREFIX_LIMIT]
    assert (kept.size, kept.payload_digest) == (len(value), digest(QUARANTINED, value))
    assert kept.cut == (len(value) > PREFIX_LIMIT)
    place = kept.source
    assert (place.topic, place.partition, place.offset, place.file) == ("their-topic", 3, 7, None)
    assert (kept.what, place.options["kind"]) == ("input", "zeek")


def test_what_is_too_long_to_be_read_is_kept_as_prefix_digest_and_size() -> None:
    value = b'{"x":"' + b"y" * 2_000_000 + b'"}'
    held = read(value)
    assert "longer than" in reason(held)
    assert held.unread is not None
    kept = reading().quarantined(AT, 7, held.unread)
    assert (kept.code, kept.data, kept.size) == ("record_too_large", value[:PREFIX_LIMIT], len(value))
    assert kept.payload_digest == digest(QUARANTINED, value)


class Stars:
    """Takes a secret out."""

    version = "stars-1"

    def apply(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: "*" if value == "hunter2" else value for name, value in record.items()}

    def apply_bytes(self, data: bytes) -> bytes:
        return data.replace(b"hunter2", b"*")


def test_redaction_runs_before_anything_is_kept() -> None:
    made = observation(read(json.dumps({**CONN, "password": "hunter2"}).encode(), redaction=Stars()))
    assert made.data is not None
    assert (made.data["password"], made.redaction) == ("*", "stars-1")
    held = read(b"hunter2", redaction=Stars())
    assert held.unread is not None
    kept = reading(redaction=Stars()).quarantined(AT, 7, held.unread)
    assert (kept.data, kept.size, kept.source.options["redaction"]) == (b"*", 1, "stars-1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (FeedOptions(), "say --kind"),
        (FeedOptions(kind="text", request_id="r"), "--request-id"),
        (FeedOptions(kind="zeek", whole=True), "--whole"),
        (FeedOptions(kind="eve", at=1), "--at"),
    ],
)
def test_what_does_not_fit_a_topic_is_refused(options: FeedOptions, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bridged(options, "their-topic")


def test_tsv_is_refused_with_words() -> None:
    with pytest.raises(UsageError, match="header"):
        refused("zeek-tsv")
    refused("zeek")


def test_groups_of_tenants_and_topics_are_apart() -> None:
    assert group_of(FeedOptions(tenant="acme", kind="zeek"), "logs") == "bridge-acme:logs:zeek"
    named = [("acme", "corp-x"), ("acme-corp", "x"), ("acme", "corp"), ("acme", "corp.x")]
    assert len({group_of(FeedOptions(tenant=tenant, kind="text"), topic) for tenant, topic in named}) == len(named)
