"""Producers that use transactions: what was given up is never shown to a detector, and the gaps that it leaves in the
offsets hold nobody up."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]  # it ships no types

from engines.topics import OBSERVATIONS
from schemas.observation import Observation
from tests.faults.asynchronous.rig import Rig, records

pytestmark = pytest.mark.needs_services


async def produce(rig: Rig, rounds: list[tuple[list[Observation], bool]]) -> None:
    """Each round in a transaction of its own, which is kept or given up."""
    producer = AIOKafkaProducer(bootstrap_servers=rig.kafka, transactional_id=rig.prefix)
    await producer.start()
    try:
        for observations, kept in rounds:
            await producer.begin_transaction()
            for one in observations:
                await producer.send_and_wait(f"{rig.prefix}.{OBSERVATIONS}", one.encode(), one.case.encode())
            await (producer.commit_transaction() if kept else producer.abort_transaction())
    finally:
        await producer.stop()


def test_what_a_transaction_gave_up_is_not_looked_at(rig: Rig) -> None:
    rounds = [(records(10 * n, 10 * n + 10), n % 2 == 1) for n in range(6)]
    asyncio.run(produce(rig, rounds))
    rig.start()
    rig.until(lambda: rig.saved() == 30)
    rig.feed(records(60, 100))
    rig.until(lambda: rig.saved() == 70)
    rig.supervisor.stop()
    kept = [n for n in range(100) if n >= 60 or n // 10 % 2 == 1]
    assert rig.fingerprints() == {f"number {n}": 1 for n in kept}
    assert set(rig.calls().values()) == {1}
    assert rig.told == []
