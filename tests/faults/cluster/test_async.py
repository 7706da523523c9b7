"""`casetape worker --async` beside workers of another set: each record once, each in its own group."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.cluster.rig import Cluster, until
from tests.faults.cluster.truths import counts, findings, lines_of

pytestmark = pytest.mark.needs_services
COUNT = 300
SLOWLY = """
import asyncio
from casetape import AsyncDetector, Finding
class Slowly(AsyncDetector):
    name = "slowly"
    kinds = ("zeek.dns",)
    concurrency = 16
    async def detect(self, observation):
        await asyncio.sleep(0.02)
        return Finding("suspicious", 0.5, fingerprint=f"slowly {observation.data['uid']}", title="slowly")
"""


@pytest.fixture
def cluster(shared_of: Callable[..., Cluster]) -> Cluster:
    """On servers that the module shares, with four partitions: nobody stops them here."""
    return shared_of(4)


def test_what_waits_is_hosted_beside_what_does_not(cluster: Cluster) -> None:
    (cluster.folder / "plugins" / "slowly.py").write_text(SLOWLY)
    cluster.merger()
    plain = cluster.worker()
    waits = cluster.start("worker", "--async", "--detectors", "slowly")
    cluster.feed(0, COUNT)
    cluster.settled()
    with cluster.open() as engine:
        until(lambda: len(findings(engine)) == 2 * COUNT, "both sets have said their word on every record")
        assert set(findings(engine).values()) == {1}
        until(lambda: counts(engine, "detect-async-slowly").new == COUNT, "the asynchronous set has saved its counts")
        counted = counts(engine, "detect-async-slowly")
        assert counted.consumed == counted.new + counted.duplicate + counted.quarantined == COUNT
        lines_of(engine)
    status = cluster.casetape("status", "--json").json
    assert status["members"]["detect-async-slowly"] >= 1
    assert [waits.stop(), plain.stop()] == [0, 0]


def test_without_an_asynchronous_detector_it_says_so(cluster: Cluster) -> None:
    answer = cluster.casetape("worker", "--async")
    assert (answer.code, answer.out) == (2, "")
    assert "no asynchronous detector" in answer.err
