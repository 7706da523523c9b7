"""The servers in containers, by testcontainers, where a container engine answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import docker
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import wait_for_logs

from tests.servers.process import free_ports

KAFKA_IMAGE, REDIS_IMAGE = "apache/kafka:4.1.1", "redis:7.4-alpine"


def engine_answers() -> bool:
    """Whether there is a container engine."""
    try:
        client = docker.from_env(timeout=5)
        try:
            return bool(client.ping())
        finally:
            client.close()
    except DockerException:
        return False


def start() -> dict[str, Any]:
    """Starts both; the answer names their addresses and containers.

    `KafkaContainer` writes a start script that apache/kafka does not know: a plain container with the image's own
    environment is used, on a port that is chosen first because the broker must advertise it.
    """
    (port,) = free_ports(1)
    environment = {
        "KAFKA_NODE_ID": "1",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_LISTENERS": f"PLAINTEXT://:{port},CONTROLLER://:9093",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
        "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }
    broker = DockerContainer(KAFKA_IMAGE).with_bind_ports(port, port)
    for name, value in environment.items():
        broker = broker.with_env(name, value)
    store = DockerContainer(REDIS_IMAGE).with_exposed_ports(6379)
    store = store.with_command("redis-server --appendonly yes --appendfsync always")
    broker.start()
    store.start()
    wait_for_logs(broker, "Kafka Server started", timeout=60)
    wait_for_logs(store, "Ready to accept connections", timeout=60)
    url = f"redis://{store.get_container_host_ip()}:{store.get_exposed_port(6379)}/0"
    names = [one.get_wrapped_container().id for one in (broker, store)]
    return {"kafka": f"127.0.0.1:{port}", "redis": url, "containers": names}


def stop(names: Sequence[str]) -> None:
    """Removes the containers."""
    if not names:
        return
    client = docker.from_env()
    for name in names:
        client.containers.get(name).remove(force=True)
    client.close()
