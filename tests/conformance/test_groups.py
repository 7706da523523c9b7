"""EventLog with groups: shares, handovers, generations, fencing, and members that die."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from engines.engine import Engine
from engines.log import TopicPartition, lag
from schemas.errors import EngineError, Fenced
from tests.conformance.adapter import Adapter
from tests.conformance.child import said, start
from tests.conformance.members import GROUP, TOPIC, Driven, all_of, numbered, settled, until

PARTITIONS = 6
RECORDS = 600


@pytest.fixture(autouse=True)
def topic(engine: Engine) -> None:
    engine.log.create_topic(TOPIC, PARTITIONS)


def values(*members: Driven) -> list[int]:
    """The numbers of all records that the members got."""
    return [int(record.value) for member in members for _, record in member.got]


@pytest.mark.parametrize("count", range(1, PARTITIONS + 1))
def test_members_share_evenly_and_completely(engine: Engine, count: int) -> None:
    members = [Driven(engine) for _ in range(count)]
    settled(PARTITIONS, *members)
    engine.log.append(TOPIC, numbered(RECORDS))
    until(lambda: len(values(*members)) >= RECORDS, *members)
    assert sorted(values(*members)) == list(range(RECORDS))


def test_surplus_members_own_nothing_and_step_in_when_one_leaves(engine: Engine) -> None:
    members = [Driven(engine) for _ in range(PARTITIONS + 2)]
    settled(PARTITIONS, *members)
    idle = [member for member in members if not member.owned]
    assert len(idle) == 2
    busy = next(member for member in members if member.owned)
    busy.consumer.close()
    members.remove(busy)
    settled(PARTITIONS, *members)
    assert sum(not member.owned for member in idle) == 1


def test_records_of_a_partition_come_in_order_and_positions_fit(engine: Engine) -> None:
    member = Driven(engine)
    until(lambda: bool(member.owned), member)
    engine.log.append(TOPIC, numbered(RECORDS))
    seen = dict.fromkeys(all_of(PARTITIONS), 0)
    while len(member.got) < RECORDS:
        batches = member.poll(limit=7, timeout=1.0)
        assert sum(len(batch.records) for batch in batches) <= 7
        for batch in batches:
            offsets = [record.offset for record in batch.records]
            assert offsets == list(range(seen[batch.at], batch.next_offset))
            seen[batch.at] = batch.next_offset
    assert seen == {TopicPartition(TOPIC, p): end for p, end in engine.log.end_offsets(TOPIC).items()}


def test_a_full_partition_does_not_starve_the_others(engine: Engine) -> None:
    member = Driven(engine)
    until(lambda: bool(member.owned), member)
    engine.log.append(TOPIC, numbered(2_000, keys=200))
    for _ in range(2 * PARTITIONS):
        member.poll(limit=10, timeout=1.0)
    assert {at for at, _ in member.got} == all_of(PARTITIONS)


def test_what_was_not_committed_comes_again(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(RECORDS))
    first = Driven(engine)
    until(lambda: len(first.got) >= 200, first)
    half = {at: record.offset + 1 for at, record in first.got[:100]}
    first.consumer.commit(half)
    assert engine.log.committed(GROUP, TOPIC) == {at.partition: offset for at, offset in half.items()}
    first.consumer.close()
    second = Driven(engine)
    until(lambda: len(second.got) >= RECORDS - 100, second)
    assert sorted(values(second)) == sorted(set(range(RECORDS)) - set(values(first)[:100]))


def test_groups_do_not_know_each_other(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(RECORDS))
    one, other = Driven(engine, "one"), Driven(engine, "other")
    until(lambda: len(one.got) >= RECORDS and len(other.got) >= RECORDS, one, other)
    assert one.owned == other.owned == all_of(PARTITIONS)
    one.consumer.commit(dict.fromkeys(one.owned, 1))
    assert engine.log.committed("other", TOPIC) == {}


def test_a_member_reads_several_topics(engine: Engine) -> None:
    engine.log.create_topic("versions", 2)
    engine.log.append(TOPIC, numbered(50))
    engine.log.append("versions", numbered(50))
    member = Driven(engine, topics=(TOPIC, "versions"))
    until(lambda: len(member.got) >= 100, member)
    assert member.owned == all_of(PARTITIONS) | all_of(2, "versions")


def test_a_revoked_partition_is_handed_back_in_mid_batch_and_nothing_is_lost_or_repeated(engine: Engine) -> None:
    """I7: the owner may commit inside the handover, and the next owner goes on exactly there."""
    engine.log.append(TOPIC, numbered(RECORDS))
    first = Driven(engine)
    until(lambda: len(first.got) >= 150, first)
    handed: dict[TopicPartition, int] = {}

    def flush(partitions: Sequence[TopicPartition]) -> None:
        assert set(partitions) <= first.owned
        handled = {at: record.offset + 1 for at, record in first.got if at in partitions}
        first.consumer.commit(handled)
        handed.update(handled)

    first.on_revoke = flush
    second = Driven(engine)
    until(lambda: len(first.got) + len(second.got) >= RECORDS, first, second)
    settled(PARTITIONS, first, second)
    assert handed
    assert not set(first.revoked) & first.owned
    assert set(second.assigned) == set(first.revoked)
    assert sorted(values(first, second)) == list(range(RECORDS))


def test_every_new_owner_has_a_greater_generation(engine: Engine) -> None:
    at = TopicPartition(TOPIC, 0)
    generations: list[int] = []

    def owns(member: Driven) -> bool:
        return at in member.owned

    for _ in range(4):
        member = Driven(engine)
        until(partial(owns, member), member)
        generations.append(member.consumer.assignment()[at])
        member.consumer.close()
    assert generations == sorted(set(generations))


def test_closing_hands_everything_back_while_it_is_still_owned(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(RECORDS))
    member = Driven(engine)
    until(lambda: len(member.got) >= RECORDS, member)
    ends = {TopicPartition(TOPIC, p): end for p, end in engine.log.end_offsets(TOPIC).items()}
    member.on_revoke = lambda partitions: member.consumer.commit({at: ends[at] for at in partitions})
    member.consumer.close()
    assert set(member.revoked) == all_of(PARTITIONS)
    assert set(lag(engine.log, GROUP, TOPIC).values()) == {0}


def test_a_commit_for_another_members_partition_is_fenced_and_records_nothing(engine: Engine) -> None:
    first, second = Driven(engine), Driven(engine)
    settled(PARTITIONS, first, second)
    own, other = min(first.owned), min(second.owned)
    with pytest.raises(Fenced):
        first.consumer.commit({own: 1, other: 1})
    assert engine.log.committed(GROUP, TOPIC) == {}


def test_seek_goes_anywhere_in_what_it_owns(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(RECORDS))
    first, second = Driven(engine), Driven(engine)
    settled(PARTITIONS, first, second)
    own, other = min(first.owned), min(second.owned)
    first.got.clear()
    first.consumer.seek(own, 3)
    until(lambda: any(at == own for at, _ in first.got), first, second)
    assert next(record.offset for at, record in first.got if at == own) == 3
    with pytest.raises(Fenced):
        first.consumer.seek(other, 3)


def test_a_member_may_seek_in_the_handover_that_assigns(engine: Engine) -> None:
    engine.log.append(TOPIC, numbered(RECORDS))
    got: list[int] = []

    def skip(partitions: Sequence[TopicPartition]) -> None:
        for at in partitions:
            consumer.seek(at, 5)

    consumer = engine.log.consumer(GROUP, [TOPIC], on_assign=skip)
    while len(got) < RECORDS - 5 * PARTITIONS:
        got += [record.offset for batch in consumer.poll(100, 1.0) for record in batch.records]
    assert min(got) == 5


def test_paused_partitions_stay_owned_and_deliver_nothing(engine: Engine) -> None:
    member = Driven(engine)
    until(lambda: bool(member.owned), member)
    quiet = set(sorted(member.owned)[:2])
    member.consumer.pause(quiet)
    engine.log.append(TOPIC, numbered(RECORDS))
    ends = engine.log.end_offsets(TOPIC)
    loud = sum(ends[at.partition] for at in member.owned - quiet)
    until(lambda: len(member.got) >= loud, member)
    assert member.poll() == []
    assert member.owned == all_of(PARTITIONS)
    assert not {at for at, _ in member.got} & quiet
    member.consumer.resume(quiet)
    until(lambda: len(member.got) >= RECORDS, member)
    assert sorted(values(member)) == list(range(RECORDS))


def test_a_member_that_dies_in_mid_batch_gives_way(adapter: Adapter) -> None:
    """I7: what the dead member had not committed is delivered again, what it had is not."""
    with adapter.open(adapter.short_session) as engine:
        engine.log.append(TOPIC, numbered(RECORDS))
        child = start(adapter, "consume", adapter.short_session)
        first, held = said(child), said(child)
        child.kill()
        child.wait()
        heir = Driven(engine)
        until(lambda: heir.owned == all_of(PARTITIONS), heir)
        until(lambda: len(heir.got) >= RECORDS - len(first["handled"]), heir)
        assert sorted(values(heir) + first["handled"]) == list(range(RECORDS))
        assert set(held["holding"]) <= set(values(heir))
        generations = {at.partition: generation for at, generation in heir.consumer.assignment().items()}
        assert all(generations[partition] > earlier for partition, earlier in first["generations"])


def test_a_silent_member_is_fenced_when_it_comes_back(adapter: Adapter) -> None:
    """I5: no lock is trusted that can expire under its holder."""
    with adapter.open(adapter.short_session) as engine, adapter.open(adapter.short_session) as others:
        engine.log.append(TOPIC, numbered(RECORDS))
        silent = Driven(engine)
        until(lambda: bool(silent.got), silent)
        heir = Driven(others)
        until(lambda: heir.owned == all_of(PARTITIONS), heir)
        with pytest.raises(Fenced):
            silent.consumer.commit({at: record.offset + 1 for at, record in silent.got})
        assert others.log.committed(GROUP, TOPIC) == {}
        with pytest.raises(Fenced):
            silent.poll()
        assert silent.owned == set()
        assert silent.revoked == []
        silent.consumer.close()
        again = Driven(engine)
        settled(PARTITIONS, again, heir)


def test_heartbeats_keep_a_member_that_works_for_long(adapter: Adapter) -> None:
    with adapter.open(adapter.short_session) as engine, adapter.open(adapter.short_session) as others:
        busy = Driven(engine)
        until(lambda: bool(busy.owned), busy)
        waiting = Driven(others)
        rounds = 0
        # the other's polls take time: longer altogether than three sessions
        while rounds * 0.1 < 3 * adapter.short_session:
            busy.consumer.heartbeat()
            waiting.poll(timeout=0.1)
            rounds += 1
        assert busy.owned == all_of(PARTITIONS)
        busy.consumer.commit(dict.fromkeys(busy.owned, 0))
        assert waiting.owned == set()


def test_a_group_is_counted_listed_and_forgotten(engine: Engine) -> None:
    assert engine.log.members(GROUP) == 0
    member = Driven(engine)
    until(lambda: bool(member.owned), member)
    member.consumer.commit(dict.fromkeys(member.owned, 1))
    assert engine.log.members(GROUP) == 1
    assert GROUP in engine.log.groups()
    with pytest.raises(EngineError, match="members"):
        engine.log.forget_group(GROUP)
    member.consumer.close()
    assert engine.log.members(GROUP) == 0
    engine.log.forget_group(GROUP)
    assert engine.log.committed(GROUP, TOPIC) == {}
    assert GROUP not in engine.log.groups()
