"""People on a cluster: what they say is taken in by whoever is at work, and by nobody that they did not start."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.cluster.rig import Cluster

pytestmark = pytest.mark.needs_services
CASE = "host:10.0.0.7"


@pytest.fixture
def cluster(shared_of: Callable[..., Cluster]) -> Cluster:
    """On servers that the module shares, with four partitions: nobody stops them here."""
    return shared_of(4)


def groups(cluster: Cluster) -> dict[str, int]:
    """By group: who is at work in it."""
    return {one["group"]: one["members"] for one in cluster.casetape("groups", "list", "--json").json}


def test_a_reply_is_taken_in_by_the_recorder_and_a_set_is_forgotten(cluster: Cluster) -> None:
    merger, worker = cluster.merger(), cluster.worker()
    cluster.feed(0, 80)
    cluster.settled()
    queued = cluster.casetape("reply", CASE, "nobody here takes texts in", "--wait", "1", "--json").json
    assert queued["queued"] is True
    recorder = cluster.start("worker", "--detectors", "recorder")
    taken = cluster.casetape("reply", CASE, "the recorder does", "--wait", "60", "--json").json
    assert (taken["queued"], taken["repeated"]) == (False, False)
    judged = cluster.casetape("judge", CASE, "--verdict", "benign", "--why", "ours", "--wait", "60", "--json").json
    assert judged["queued"] is False
    # nobody has joined a group that nobody started
    assert groups(cluster) == {"detect-each": 1, "detect-recorder": 1, "merger": 1}
    assert cluster.casetape("status", "--json").json["health"] == "ok"
    refused = cluster.casetape("groups", "forget", "detect-recorder")
    assert (refused.code, "stop them first" in refused.err) == (1, True)
    assert recorder.stop() == 0
    assert cluster.casetape("status").code == 1
    assert cluster.casetape("groups", "forget", "detect-recorder", "--json").json["forgotten"] == "detect-recorder"
    assert groups(cluster) == {"detect-each": 1, "merger": 1}
    assert cluster.casetape("status").code == 0
    assert [merger.stop(), worker.stop()] == [0, 0]
