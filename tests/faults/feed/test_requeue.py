"""Quarantine: listed once, with its bytes; requeued with today's readers; tenants apart; no secret in a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.engine import Engine
from engines.log import NewRecord
from engines.topics import OBSERVATIONS, QUARANTINE
from schemas.errors import TenantMismatch, UsageError
from schemas.quarantined import Quarantined, Source, quarantined
from tests.faults.feed.feeding import NOW, clock, conn, engine, feed, quarantine, records, tape
from workers.feed.options import FeedOptions
from workers.feed.quarantine import find, forget_requeued
from workers.feed.requeue import requeue

NAMELESS = json.dumps({"ts": 1588205199.5, "id.orig_h": "10.0.0.9"}).encode() + b"\n"


def test_an_input_works_with_another_choice(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "mixed.json"
    path.write_bytes(conn(0) + NAMELESS)
    feed(home, path)
    (listed,) = quarantine(home)
    assert (listed.record.source.file, listed.record.source.line) == (str(path), 2)
    assert (listed.record.data, listed.requeued) == (NAMELESS[:-1], None)
    with engine(home) as opened:
        log, store = opened.log, opened.store
        again = requeue(log, store, listed.record, clock)
        assert again.observation is None
        assert "names no stream" in again.reason
        outcome = requeue(log, store, listed.record, clock, change={"kind": "zeek.conn"})
        found = find(log, store, listed.record.id)
        assert found is not None
        assert found.requeued is not None
        assert (found.requeued.observation, found.requeued.at) == (outcome.observation, NOW)
        assert (
            requeue(log, store, listed.record, clock, change={"kind": "zeek.conn"}).observation == outcome.observation
        )
        with pytest.raises(UsageError):
            requeue(log, store, listed.record, clock, change={"tenant": "other"})
        with pytest.raises(UsageError):
            requeue(log, store, listed.record, clock, change={"nonsense": 1})
        assert forget_requeued(store, "default", NOW + 1) == 1
    assert {one.id for one in tape(home) if one.subject == "host:10.0.0.9"} == {outcome.observation}


def test_a_requeued_text_has_the_id_it_would_have_had(tmp_path: Path) -> None:
    home, path, options = tmp_path / "home", tmp_path / "note.txt", FeedOptions(kind="text", subject="x", at=5)
    path.write_bytes(b"first\nsecond \xff\nthird\n")
    feed(home, path, options)
    (listed,) = quarantine(home)
    mended = listed.record.model_copy(update={"payload": "c2Vjb25k"})
    with engine(home) as opened:
        outcome = requeue(opened.log, opened.store, mended, clock)
    (again,) = [one for one in tape(home) if one.id == outcome.observation]
    assert (again.text, again.subject, again.at) == ("second", "x", 5)
    assert again.origin == listed.record.source.options["request"]


def test_a_prefix_cannot_be_requeued(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0) + b'{"_path":"conn","x":"' + b"y" * 2_000_000 + b'"}\n' + conn(1))
    counts = feed(home, path)
    assert (counts.appended, counts.quarantined) == (2, 1)
    (listed,) = quarantine(home)
    assert (listed.record.code, listed.record.cut, listed.record.size) == ("record_too_large", True, 2_000_023)
    assert len(listed.record.data) == 64 * 1024
    with engine(home) as opened:
        assert "only the first part" in requeue(opened.log, opened.store, listed.record, clock).reason


def test_a_record_of_observations_is_checked_and_appended_as_it_is(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0))
    feed(home, path)
    with engine(home) as opened:
        (good,) = records(opened, OBSERVATIONS)
        assert requeue(opened.log, opened.store, _record(good.value), clock).reason == "requeued"
        assert [one.value for one in records(opened, OBSERVATIONS)] == [good.value, good.value]
        edited = good.value.replace(b'"C0"', b'"C1"')
        assert "not the digest" in requeue(opened.log, opened.store, _record(edited), clock).reason
        other = _record(good.value, tenant="acme")
        assert requeue(opened.log, opened.store, other, clock).reason == str(TenantMismatch())
        version = _record(good.value, topic="versions")
        assert requeue(opened.log, opened.store, version, clock).observation is None


def _record(value: bytes, *, tenant: str = "default", topic: str = OBSERVATIONS) -> Quarantined:
    source = Source(topic=topic, partition=0, offset=0)
    return quarantined(tenant, "record", "record_invalid", "for the test", value, source, author="test", at=NOW)


def test_the_list_has_each_fault_once_keeps_tenants_apart_and_shows_what_it_cannot_read(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "conn.log"
    path.write_bytes(conn(0) + b"bad\n")
    for tenant in ("acme", "acme-corp"):
        feed(home, path, FeedOptions(tenant=tenant))
    with engine(home) as opened:
        again = records(opened, QUARANTINE)
        opened.log.append(QUARANTINE, [NewRecord(one.key, one.value) for one in again])
        opened.log.append(QUARANTINE, [NewRecord("acme", b"rubbish"), NewRecord("acme", _foreign(opened))])
    assert [one.record.tenant for one in quarantine(home, "acme-corp")] == ["acme-corp"]
    first, rubbish, foreign = quarantine(home, "acme")
    assert (first.record.what, first.record.data) == ("input", b"bad")
    assert (rubbish.record.what, rubbish.record.code, rubbish.record.data) == ("record", "record_invalid", b"rubbish")
    assert (foreign.record.tenant, foreign.record.code) == ("acme", "tenant_mismatch")


def _foreign(opened: Engine) -> bytes:
    return next(one.value for one in records(opened, QUARANTINE) if one.key == "acme-corp")


def test_a_secret_is_in_the_payload_only(tmp_path: Path) -> None:
    home, path, secret = tmp_path / "home", tmp_path / "conn.log", "canary-7f3a"
    bad = [
        conn(0, ts=secret),
        conn(1, password=secret)[:-2] + b"\n",
        conn(2, **{"id.orig_h": secret + "\u0007"}),
        conn(3, _path=f"{secret}/"),
        conn(4, note=secret).replace(b"canary", b"\xc1canary"),
        b'["' + secret.encode() + b'"]\n',
    ]
    path.write_bytes(conn(9) + b"".join(bad))
    assert feed(home, path).quarantined == len(bad)
    for listed in quarantine(home):
        assert secret.encode() in listed.record.data
        assert secret not in listed.record.model_copy(update={"payload": ""}).model_dump_json()
