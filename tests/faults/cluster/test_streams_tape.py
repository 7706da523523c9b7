"""Field reports of streams, on real servers: what is on the tape, what is there no more, and what ends a service."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from engines.log import TopicPartition
from engines.topics import OBSERVATIONS, VERSIONS
from merge.history import state_at
from schemas.canonical import canonical_bytes
from schemas.observation import TEXT, Observation, identity
from schemas.record import CONTENT_LIMIT
from schemas.scales import SECOND
from tests.factories import CASE, SUBJECT, observation
from tests.faults.cluster.rig import Service, until
from tests.faults.cluster.sharing import Shared, analyses, quarantined
from tests.faults.cluster.truths import counts, findings, lines_of

pytestmark = pytest.mark.needs_services
CORPUS = Path(__file__).parents[2] / "fixtures" / "corpus" / "v1"

WINDOWED = """
from casetape import Finding, Measure, WindowedDetector
from schemas.scales import HOUR
from workers.detection.windowed import Window
class Each(WindowedDetector):
    name = "each"
    kinds = ("zeek.conn",)
    window = Window(HOUR, HOUR)
    def measure(self, observation):
        return Measure("k", ())
    def conclude(self, key, rows, span):
        return Finding("suspicious", 0.5, fingerprint=f"each {span.end}", title="each", numbers={"rows": len(rows.at)})
"""
ANY = """
from casetape import Detector, Finding
class Each(Detector):
    name = "each"
    kinds = ("*",)
    def detect(self, observation):
        return Finding("suspicious", 0.5, fingerprint=f"each {observation.id}", title="each")
"""


def test_an_idle_source_closes_its_windows_by_processing_time(shared_of: Callable[..., Shared]) -> None:
    """Streams 15, I10: provisionally, and the next record takes it up again where it stood."""
    cluster = shared_of(CASETAPE_SILENCE="2", CASETAPE_LATENESS="0")
    cluster.plugin(WINDOWED)
    cluster.work()
    cluster.send(OBSERVATIONS, [(CASE, observation(60 * number).encode()) for number in range(6)])
    with cluster.open() as engine:
        until(lambda: bool(analyses(engine, CASE)), "it was concluded though nothing came any more")
        (early,) = analyses(engine, CASE)
        assert (early.provisional, early.numbers) == (True, {"rows": 6})
        assert counts(engine).new == 6
        # of the same window, and one that closes it
        cluster.send(OBSERVATIONS, [(CASE, observation(n).encode()) for n in (600, 4 * 3_600)])
        until(lambda: any(not one.provisional for one in analyses(engine, CASE)), "it was concluded for good")
        final = [one for one in analyses(engine, CASE) if one.fingerprint == early.fingerprint and not one.provisional]
        assert [one.numbers for one in final] == [{"rows": 7}]
        until(lambda: counts(engine).consumed == 8, "all is saved")
        assert (counts(engine).new, counts(engine).late) == (8, 0)
        assert max(analyses(engine, CASE), key=lambda one: one.order).at >= final[0].at
        lines_of(engine)


def test_a_tape_that_holds_every_schema_version_so_far(shared: Shared) -> None:
    """Streams 17: each record is read by its own version, in any order; one that is unknown costs itself only."""
    shared.plugin(ANY)
    known = [line for line in (CORPUS / "observation.jsonl").read_bytes().splitlines() if b'"sealed":"' not in line]
    least = {"schema": 1, "tenant": "default", "subject": SUBJECT, "kind": "text", "content": {"text": "the least"}}
    values = [*known, json.dumps(least).encode()]
    parsed = [Observation.parse(value).proven() for value in values]
    newer, none = {**least, "schema": 99}, {name: value for name, value in least.items() if name != "schema"}
    unknown = [json.dumps(one).encode() for one in (newer, none)]
    keyed = [(one.case, value) for one, value in zip(parsed, values, strict=True)]
    # the newest record is one that nobody knows, and there is one before all others
    shared.send(OBSERVATIONS, [(CASE, unknown[0]), *keyed, (CASE, unknown[1]), (CASE, unknown[0])])
    shared.send(VERSIONS, [(CASE, b'{"schema":99}')])
    worker, _ = shared.work()
    shared.finished(lambda engine: len(findings(engine)) == len(values) and len(quarantined(engine)) == 4, worker)
    with shared.open() as engine:
        assert set(findings(engine)) == {f"each {one.id}" for one in parsed}
        assert set(findings(engine).values()) == {1}
        counted = counts(engine)
        assert (counted.consumed, counted.new, counted.quarantined) == (len(values) + 3, len(values), 3)
        found = quarantined(engine)
        assert sorted((one.author, one.code) for one in found) == [
            *[("detect-each", "unknown_type")] * 3,
            ("merger", "unknown_type"),
        ]
        assert {one.data for one in found if one.author == "detect-each"} == set(unknown)


def test_a_record_at_the_limit_passes_and_one_above_it_is_quarantined(shared: Shared) -> None:
    """From the feed to `states`: 900 KiB of content are whole in the case."""
    shared.plugin(ANY)
    fits, how = _text(shared, CONTENT_LIMIT)
    report = shared.casetape("feed", fits, *how).json
    assert (report["appended"], report["quarantined"]) == (1, 0)
    above, how = _text(shared, CONTENT_LIMIT + 1)
    report = shared.casetape("feed", above, *how).json
    assert (report["read"], report["appended"], report["quarantined"]) == (1, 0, 1)
    # and what a foreign producer wrote, which no feed has measured
    foreign = observation(text="x" * CONTENT_LIMIT)
    shared.send(OBSERVATIONS, [(CASE, foreign.encode())])
    worker, _ = shared.work()
    shared.finished(lambda engine: len(quarantined(engine)) == 2 and bool(analyses(engine, CASE)), worker)
    with shared.open() as engine:
        (one,) = analyses(engine, CASE)
        (kept,) = state_at(engine.store, CASE, log=engine.log).inputs.values()
        assert kept.text == fits.read_text()
        assert one.evidence.total == 1
        by = {one.what: one for one in quarantined(engine)}
        assert set(by) == {"input", "record"}
        for what, size in (("input", above.stat().st_size), ("record", len(foreign.encode()))):
            assert by[what].code == "record_too_large"
            assert by[what].cut
            assert by[what].size == size
            assert by[what].payload_digest
        assert by["input"].source.file is not None
        assert by["record"].source.topic == OBSERVATIONS
        assert (counts(engine).new, counts(engine).quarantined) == (1, 1)
        lines_of(engine)


def test_records_that_retention_deleted_before_they_were_handled_are_told_of(shared: Shared) -> None:
    """A committed offset older than the oldest record: it goes on there, and says how many it has never seen."""
    shared.feed(0, 200)
    worker, _ = shared.work()
    shared.finished(200, worker)
    shared.feed(200, 600)
    with shared.open() as engine:
        ends, lost = engine.log.end_offsets(OBSERVATIONS), 0
        committed = engine.log.committed("detect-each", OBSERVATIONS)
        for partition, end in ends.items():
            at = TopicPartition(OBSERVATIONS, partition)
            engine.log.trim(at, committed[partition] + 50)
            lost += 50
            assert end - committed[partition] > 50
    looked = shared.casetape("doctor")
    assert looked.code == 1
    assert f"{lost} records of `observations` were deleted before it had handled them" in looked.out + looked.err
    worker = shared.worker()
    shared.finished(600 - lost, worker)
    assert f"{lost} records" in worker.said()
    assert "deleted" in worker.said()
    with shared.open() as engine:
        counted = counts(engine)
        assert counted.consumed == counted.new == 600 - lost
        assert set(findings(engine).values()) == {1}
        assert len(findings(engine)) == 600 - lost
        lines_of(engine)


def test_records_that_retention_deleted_after_they_were_handled_are_no_loss(shared: Shared) -> None:
    shared.feed(0, 200)
    worker, _ = shared.work()
    shared.finished(200, worker)
    with shared.open() as engine:
        for partition, offset in engine.log.committed("detect-each", OBSERVATIONS).items():
            engine.log.trim(TopicPartition(OBSERVATIONS, partition), offset - 10)
    shared.feed(200, 400)
    worker = shared.worker()
    shared.finished(400, worker)
    assert "deleted" not in worker.said()
    with shared.open() as engine:
        assert counts(engine).new == 400
        assert set(findings(engine)) == {f"each C{number:06}" for number in range(400)}
    assert "were deleted before" not in shared.casetape("doctor").out


def test_a_topic_that_is_deleted_ends_the_worker(shared: Shared) -> None:
    """Streams 13: an orchestrator must see that it is of no more use."""
    worker, _ = shared.work()
    admin = KafkaAdminClient(bootstrap_servers=shared.kafka.address)
    admin.delete_topics([f"{shared.prefix}.{OBSERVATIONS}"])
    admin.close()
    said = fatal(worker)
    assert f"{shared.prefix}.{OBSERVATIONS}" in said


def test_a_store_that_is_refused_ends_whoever_works_on_it(shared: Shared) -> None:
    """Streams 13."""
    both = shared.work()
    with shared.open() as engine:
        engine.store.refuse("the store is refused, says the test: run `casetape rebuild`")
        shared.send(OBSERVATIONS, [(CASE, observation(0, kind="zeek.dns", data={"uid": "C"}).encode())])
        for one in both:
            assert "the store is refused, says the test: run `casetape rebuild`" in fatal(one)


def test_a_plug_in_that_no_longer_loads_ends_the_worker(shared: Shared) -> None:
    """Streams 13: it worked, its process died, and its successor finds another folder."""
    worker, _ = shared.work()
    shared.plugin("this is no Python")
    for child in worker.children():
        os.kill(child, signal.SIGKILL)
    said = fatal(worker)
    assert "there is no detector `each`" in said


def fatal(service: Service, seconds: float = 30.0) -> str:
    """It ends by itself with exit code 1, says why once, and is not ready again once it was not. What it says last."""
    seen: list[int] = []
    deadline = time.monotonic() + seconds
    while service.process.poll() is None:
        code, _ = service.asked("ready")
        if not seen or seen[-1] != code:
            seen.append(code)
        assert time.monotonic() < deadline, f"it never ended: {seen} {service.said()}"
        time.sleep(0.02)
    assert service.process.returncode == 1, service.said()
    assert 200 not in seen[1:], seen
    assert service.asked("ready")[0] == 0
    last = service.said().splitlines()[-1]
    assert last.startswith("casetape: "), service.said()
    assert service.said().count(last) == 1
    assert "Traceback" not in service.said()
    return last


def _text(shared: Shared, size: int) -> tuple[Path, list[str]]:
    """A text whose observation has this many bytes of content, and how it is fed."""
    name, at = f"text-{size}", 1_700_000_000 * SECOND
    frame = canonical_bytes(identity("default", SUBJECT, TEXT, at, {"text": ""}, name))
    path = shared.folder / name
    path.write_text("x" * (size - len(frame)))
    how = ["--kind", "text", "--whole", "--subject", SUBJECT, "--at", "2023-11-14T22:13:20Z", "--request-id", name]
    return path, [*how, "--json"]
