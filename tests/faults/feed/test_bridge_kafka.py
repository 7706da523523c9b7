"""What other producers write to Kafka: no keys, keys that are no text, no values, transactions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.adapter import ADAPTERS
from tests.faults.feed.bridging import PARTITIONS, Rig, conn
from tests.servers.shared import servers
from workers.feed.options import FeedCounts

pytestmark = pytest.mark.needs_services


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    one = Rig(ADAPTERS["cluster"](str(tmp_path)), tmp_path)
    yield one
    one.clear()


def test_keys_and_values_that_are_missing_or_no_text(rig: Rig) -> None:
    # a client that tests of the other engine need not have
    from kafka import KafkaProducer

    rig.put([])
    producer = KafkaProducer(bootstrap_servers=servers().kafka)
    for at in range(400):
        producer.send(rig.topic, conn(at), key=[None, b"", b"\xff\xfe", b"acme/x"][at % 4], partition=at % PARTITIONS)
    for key, value in ((b"gone", None), (b"\xff", None), (None, b""), (None, b"\xff\xfe")):
        producer.send(rig.topic, value, key=key)
    producer.close()
    assert rig.fed() == FeedCounts(read=404, appended=400, quarantined=4)
    assert len({one.id for one in rig.tape()}) == 400
    assert sorted(one.record.data for one in rig.quarantine()) == [b"", b"", b"", b"\xff\xfe"]
    assert rig.fed() == FeedCounts()


def test_of_transactions_what_was_committed_is_read_and_an_end_is_reached_behind_their_marks(rig: Rig) -> None:
    from kafka import KafkaProducer

    rig.put([conn(0), conn(1)])
    producer = KafkaProducer(bootstrap_servers=servers().kafka, transactional_id=rig.topic)
    producer.init_transactions()
    for number, ending in ((2, producer.abort_transaction), (3, producer.commit_transaction)):
        producer.begin_transaction()
        producer.send(rig.topic, conn(number), partition=0)
        producer.flush()
        ending()
    assert rig.fed() == FeedCounts(read=3, appended=3)
    producer.begin_transaction()
    producer.send(rig.topic, conn(4), partition=0)
    producer.flush()
    assert rig.fed() == FeedCounts()
    producer.commit_transaction()
    producer.close()
    assert rig.fed() == FeedCounts(read=1, appended=1)
    assert {one.data["uid"] for one in rig.tape() if one.data} == {"C0", "C1", "C3", "C4"}
