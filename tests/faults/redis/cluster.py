"""A Redis Cluster of three servers, each with a third of the slots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import redis

from tests.servers.process import PATIENCE, free_ports
from tests.servers.redis import RedisServer

SLOTS = 16_384
NODES = 3


@contextmanager
def cluster(folder: Path) -> Iterator[list[RedisServer]]:
    """The servers of a cluster that is ready."""
    with ExitStack() as stack:
        nodes: list[RedisServer] = []
        buses = free_ports(NODES)
        for number, bus in enumerate(buses):
            options = ("--appendonly", "no", "--cluster-enabled", "yes", "--cluster-port", str(bus))
            nodes.append(RedisServer(folder / f"node-{number}", options))
            nodes[-1].start()
            stack.callback(nodes[-1].kill)
        clients = [stack.enter_context(redis.Redis(port=one.port)) for one in nodes]
        for number, client in enumerate(clients):
            first, last = number * SLOTS // NODES, (number + 1) * SLOTS // NODES - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port, buses[0])
        deadline = time.monotonic() + PATIENCE
        while not all(_ready(client) for client in clients):
            assert time.monotonic() < deadline, "the cluster does not get ready"
            time.sleep(0.05)
        yield nodes


def _ready(client: redis.Redis) -> bool:
    words = client.cluster("INFO")
    return words["cluster_state"] == "ok" and int(words["cluster_known_nodes"]) == NODES
