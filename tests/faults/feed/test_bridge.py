"""A bridge from a foreign topic: killed anywhere, shared, fed rubbish; on every engine."""

from __future__ import annotations

import json
import signal
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.topics import ALL, DEFAULT_PARTITIONS, QUARANTINE
from tests.acceptance.command import casetape, closes, run
from tests.conformance.adapter import ADAPTERS
from tests.faults.feed.bridging import Driven, Rig, conn, ended, until
from tests.faults.feed.feeding import records
from workers.feed.options import FeedCounts, FeedOptions
from workers.feed.turns import ABREAST

GOOD = 4_500
BAD = {at: conn(at)[:-2] for at in (100, 2100, 4400)}
PORTIONS = 3
"""So many portions of 2,000 records the topic makes."""


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.needs_services] if name == "cluster" else []) for name in ADAPTERS]
)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    one = Rig(ADAPTERS[request.param](str(tmp_path)), tmp_path)
    yield one
    one.clear()


@pytest.fixture
def embedded(tmp_path: Path) -> Rig:
    """For what no engine makes different."""
    return Rig(ADAPTERS["sqlite"](str(tmp_path)), tmp_path)


def mixed() -> list[bytes]:
    """Good records and bad ones between them."""
    return [one for at in range(GOOD) for one in ([BAD[at]] if at in BAD else []) + [conn(at)]]


def test_i7_each_record_is_on_the_tape_or_in_quarantine_and_none_is_read_twice(rig: Rig) -> None:
    rig.put(mixed())
    assert rig.fed() == FeedCounts(read=GOOD + 3, appended=GOOD, quarantined=3)
    assert len({one.id for one in rig.tape()}) == len(rig.tape()) == GOOD
    assert sorted(one.record.data for one in rig.quarantine()) == sorted(BAD.values())
    assert rig.fed() == FeedCounts()
    rig.put([conn(GOOD)])
    assert rig.fed() == FeedCounts(read=1, appended=1)
    assert rig.feed("--strict").code == 0


@pytest.mark.parametrize("number", range(1, PORTIONS + 1))
@pytest.mark.parametrize("point", ["bridge.appended", "bridge.quarantined"])
def test_i7_killed_anywhere_and_started_again_every_record_is_there(rig: Rig, point: str, number: int) -> None:
    rig.put(mixed())
    killed = rig.start("--until-end", fail_at=f"{point}:{number}")
    assert killed.wait() == -signal.SIGKILL
    before = len(rig.tape())
    assert before > 0
    counts = rig.fed()
    found = Counter(one.id for one in rig.tape())
    assert len(found) == GOOD
    assert sum(found.values()) == before + counts.appended
    assert sorted(one.record.data for one in rig.quarantine()) == sorted(BAD.values())
    assert rig.fed() == FeedCounts()


def test_i4_what_was_appended_twice_is_a_duplicate_to_the_workers(embedded: Rig) -> None:
    embedded.put(mixed())
    assert embedded.start("--until-end", fail_at="bridge.quarantined:2").wait() == -signal.SIGKILL
    embedded.fed()
    twice = len(embedded.tape()) - GOOD
    assert twice > 0
    report = run(embedded.home)
    assert closes(report)
    assert (report["recorded"], report["duplicates"], report["quarantined"]) == (GOOD, twice, 0)


def test_i4_a_log_that_was_fed_from_its_file_is_not_there_again(embedded: Rig, tmp_path: Path) -> None:
    lines = [conn(at) for at in range(300)]
    embedded.put(lines)
    log = tmp_path / "conn.log"
    log.write_bytes(b"\n".join(lines) + b"\n")
    assert casetape(embedded.home, "feed", log, "--json").json["appended"] == 300
    assert embedded.fed().appended == 300
    assert set(Counter(one.id for one in embedded.tape()).values()) == {2}
    report = run(embedded.home)
    assert (report["recorded"], report["duplicates"]) == (300, 300)


def test_i8_the_tenant_is_the_bridges_whatever_the_record_and_its_key_say(rig: Rig) -> None:
    rig.put([conn(at, tenant="globex", key="globex/host:10.0.0.1") for at in range(8)], ["globex/host:10.0.0.1", "x"])
    rig.put([b"\xff globex"], ["globex"])
    assert rig.fed("--tenant", "acme") == FeedCounts(read=9, appended=8, quarantined=1)
    assert {one.tenant for one in rig.tape()} == {"acme"}
    assert [one.record.tenant for one in rig.quarantine()] == ["acme"]
    # another tenant that is given the topic gets all of it too
    assert rig.fed("--tenant", "acme-corp").read == 9
    assert Counter(one.tenant for one in rig.tape()) == {"acme": 8, "acme-corp": 8}


def test_hostile_bytes_stop_nothing(rig: Rig) -> None:
    hostile = [
        b"",
        b"\0",
        b"\xff\xfe\xfd",
        b"{" * 5000,
        b'{"_path":"conn","ts":1e999}',
        b'{"_path":"conn","ts":"\\ud800"}',
        b'{"_path":"../../etc","ts":1}',
        b'{"_path":"conn","id.orig_h":{"a":1}}',
        b'{"_path":"conn","x":"' + b"y" * 1_500_000 + b'"}',
        b'{"_path":"conn","x":"' + b"y" * 950_000 + b'"}',
        json.dumps({"conn": [1]}).encode(),
    ]
    rig.put([one for at, bad in enumerate(hostile) for one in (bad, conn(at))])
    counts = rig.fed()
    assert counts.read == 2 * len(hostile)
    assert {one.data["uid"] for one in rig.tape() if one.data and "uid" in one.data} == {
        f"C{at}" for at in range(len(hostile))
    }
    kept = [one.record for one in rig.quarantine()]
    assert len(kept) == counts.quarantined
    assert len(kept) + len(rig.tape()) == counts.read
    assert {one.source.topic for one in kept} == {rig.topic}
    assert len({(one.source.partition, one.source.offset) for one in kept}) == len(kept)
    assert sorted(one.size for one in kept if one.cut) == sorted(len(one) for one in hostile if len(one) > 100_000)


def test_ten_thousand_records_keep_their_order_within_a_key(rig: Rig) -> None:
    rig.put([conn(at, subject=at % 50) for at in range(10_000)], [f"10.0.0.{at}" for at in range(50)])
    assert rig.fed().appended == 10_000
    by_case: dict[str, list[int]] = defaultdict(list)
    for one in rig.tape():
        assert one.at is not None
        by_case[one.case].append(one.at)
    assert len(by_case) == 50
    assert all(times == sorted(times) and len(times) == 200 for times in by_case.values())


def test_i10_a_backlog_spread_over_partitions_comes_abreast(rig: Rig) -> None:
    # a week of it, in which each partition alone would be hours ahead within one poll
    rig.put([conn(at, subject=at % 3) for at in range(10_000)])
    assert rig.fed().appended == 10_000
    newest: dict[str, int] = {}
    for one in rig.tape():
        assert one.at is not None
        assert one.at >= newest.get(one.case, one.at) - ABREAST
        newest[one.case] = max(one.at, newest.get(one.case, one.at))
    assert len(newest) == 3


def test_two_bridges_share_the_partitions_and_hand_them_over(rig: Rig) -> None:
    rig.put([])
    with rig.adapter.open() as opened, rig.source(opened) as source:
        group = f"{rig.adapter.place}.bridge"
        both = [Driven(opened, source, rig.topic, FeedOptions(kind="zeek"), group) for _ in range(2)]

        def reads() -> list[int]:
            for one in both:
                one.step()
            return [one.bridge.counts.read for one in both]

        until(lambda: sum(reads()) == 0 and [len(one.owned) for one in both] == [2, 2])
        rig.put(mixed()[:2000])
        until(lambda: all(reads()))
        rig.put(mixed()[2000:])
        reads()
        first, second = both
        first.consumer.close()
        both.remove(first)
        until(lambda: sum(reads()) + first.bridge.counts.read == GOOD + 3)
        second.consumer.close()
        counts = first.bridge.counts + second.bridge.counts
    assert counts == FeedCounts(read=GOOD + 3, appended=GOOD, quarantined=3)
    assert len({one.id for one in rig.tape()}) == len(rig.tape()) == GOOD
    assert len(rig.quarantine()) == 3


def test_one_of_two_is_killed_and_the_other_goes_on(rig: Rig) -> None:
    rig.put(mixed()[:1000])
    both = [rig.start(), rig.start()]
    until(lambda: len({one.id for one in rig.tape()}) > 900)
    both[0].kill()
    both[0].wait()
    rig.put(mixed()[1000:])
    until(lambda: len({one.id for one in rig.tape()}) == GOOD and len(rig.quarantine()) == len(BAD))
    both[1].send_signal(signal.SIGTERM)
    ended(both[1])
    assert rig.fed() == FeedCounts()


def test_it_goes_on_until_it_is_told_to_stop(rig: Rig) -> None:
    rig.put([conn(0)])
    one = rig.start()
    until(lambda: len(rig.tape()) == 1)
    rig.put([conn(1), b"bad"])
    until(lambda: len(rig.tape()) == 2 and len(rig.quarantine()) == 1)
    one.send_signal(signal.SIGINT)
    assert ended(one) == FeedCounts(read=3, appended=2, quarantined=1)


def test_what_was_quarantined_can_be_requeued(rig: Rig) -> None:
    nameless = conn(0).replace(b'"_path": "conn", ', b"")
    rig.put([nameless, b"bad"])
    assert rig.feed("--strict").code == 1
    kept = {one.record.data: one.record for one in rig.quarantine()}
    again = casetape(
        rig.home, "quarantine", "requeue", kept[nameless].id, "--kind", "zeek.conn", "--json", env=rig.env
    ).json
    (there,) = rig.tape()
    assert (again[0]["observation"], there.kind, there.subject) == (there.id, "zeek.conn", "host:10.0.0.0")
    assert casetape(rig.home, "quarantine", "requeue", kept[b"bad"].id, env=rig.env).code == 1
    listed = casetape(rig.home, "quarantine", "list", "--json", env=rig.env).json
    assert {one["source"]["topic"] for one in listed} == {rig.topic}
    assert len(listed) == 2


def test_texts_of_a_topic_are_the_same_after_a_redelivery(rig: Rig) -> None:
    rig.put([b"the same", b"the same", b"two\nlines"])
    assert rig.fed("--subject", "host:a", kind="text").appended == 3
    first = {one.id for one in rig.tape()}
    assert {one.text for one in rig.tape()} == {"the same", "two\nlines"}
    assert len(first) == 3
    with rig.adapter.open() as opened, rig.source(opened) as source:
        again = Driven(
            opened, source, rig.topic, FeedOptions(kind="text", subject="host:a"), f"{rig.adapter.place}.again"
        )
        until(lambda: (again.step(), again.bridge.counts.read)[1] == 3)
        again.consumer.close()
    assert Counter(one.id for one in rig.tape()) == dict.fromkeys(first, 2)


def test_a_repeated_quarantine_has_the_same_id(embedded: Rig) -> None:
    embedded.put([b"bad", b"bad"])
    assert embedded.start("--until-end", fail_at="bridge.quarantined").wait() == -signal.SIGKILL
    assert embedded.fed().quarantined == 2
    assert len(embedded.quarantine()) == 2
    with embedded.adapter.open() as opened:
        assert len(records(opened, QUARANTINE)) == 4


def test_a_topic_that_is_not_there_is_one_sentence(rig: Rig) -> None:
    with rig.adapter.open() as opened:
        for topic in ALL:
            opened.log.create_topic(topic, DEFAULT_PARTITIONS)
    answer = rig.feed()
    assert (answer.code, answer.out) == (1, "")
    assert rig.topic in answer.err
    assert "no topic" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--from-topic", "x"], "--kind"),
        (["--from-topic", "x", "--kind", "zeek-tsv"], "header"),
        (["--from-topic", "x", "--kind", "zeek", "conn.log"], "alone"),
        (["--from-topic", "x", "--kind", "zeek", "--follow"], "--follow"),
        (["--from-topic", "x", "--kind", "text", "--request-id", "r"], "--request-id"),
        (["--from-topic", "observations", "--kind", "json"], "own"),
        (["--until-end", "conn.log"], "--from-topic"),
        ([], "what to feed"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_before_anything_is_written(
    tmp_path: Path, args: list[str], said: str
) -> None:
    answer = casetape(tmp_path / "home", "feed", *args)
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "home").exists()
