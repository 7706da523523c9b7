"""The services of deploy/compose.yaml, with the commands, variables and checks that it gives them, as processes of this
machine: from an analyst's sentence to a case, and to a clean end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.composed import Broker, Store, told
from tests.servers import kafka as kafka_here
from tests.servers import redis as redis_here
from tests.servers.process import ServerProcess, free_ports
from tests.unit.deploy.compose_rules import read

pytestmark = pytest.mark.needs_services
COMPOSE = read()
SERVICES = ("worker-beaconing", "worker-dns", "worker-recorder", "merger")
PATIENCE = 60.0
NOTICED = 90.0
"""Seconds within which a service says that Kafka is away: its look at it is given up after 60."""
CASETAPE = (sys.executable, "-m", "casetape")


class Machine:
    """Both servers, and what is started beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broker, self.store = Broker(COMPOSE, folder / "kafka"), Store(COMPOSE, folder / "redis")
        self.services: dict[str, Service] = {}

    def environment(self, name: str) -> dict[str, str]:
        """What the service gets, with the places of this machine."""
        given = {key: told(value) for key, value in COMPOSE["services"][name]["environment"].items()}
        return {
            "PATH": os.environ["PATH"],
            **given,
            "CASETAPE_KAFKA__SERVERS": self.broker.address,
            "CASETAPE_REDIS__URL": f"redis://127.0.0.1:{self.store.port}/0",
            "CASETAPE_REDIS__PASSWORD_FILE": str(self.store.secret),
            "CASETAPE_HOME": str(self.folder / f"home-{name}"),
        }

    def run(self, name: str, *command: str) -> str:
        """What one verb of the service says; without a command, the service's own."""
        words = command or COMPOSE["services"][name]["command"]
        done = subprocess.run(
            [*CASETAPE, *words],
            env=self.environment(name),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, name: str) -> Service:
        """Starts a service, without waiting for it."""
        self.services[name] = Service(self, name)
        self.services[name].launch()
        return self.services[name]

    def stop(self) -> None:
        """Ends everything."""
        for one in (*self.services.values(), self.broker, self.store):
            one.stop()


class Service(ServerProcess):
    """One container's process."""

    def __init__(self, machine: Machine, name: str) -> None:
        folder = machine.folder / name
        folder.mkdir()
        (port,) = free_ports(1)
        said = COMPOSE["services"][name]
        variables = {**machine.environment(name), "CASETAPE_HEALTH": f"127.0.0.1:{port}"}
        self.check = [one.replace(":8080/", f":{port}/") for one in said["healthcheck"]["test"][2:]]
        words = [f"{key}={value}" for key, value in variables.items()]
        super().__init__(folder, ["env", *words, *CASETAPE, *said["command"]], self.healthy)

    def healthy(self) -> bool:
        """What the service's own check says."""
        return subprocess.run([sys.executable, *self.check], capture_output=True, check=False).returncode == 0

    def log(self) -> str:
        """What it said."""
        return (self.folder / "server.log").read_text(encoding="utf-8")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    lacking = [one for one in (kafka_here.missing(), redis_here.missing()) if one]
    if lacking:
        pytest.skip("; ".join(lacking))
    machine = Machine(tmp_path)
    try:
        machine.broker.launch()
        machine.store.start()
        machine.broker.wait()
        yield machine
    finally:
        machine.stop()


def test_what_is_said_becomes_a_case_and_all_end_in_time(machine: Machine) -> None:
    machine.run("topics")
    machine.run("topics")
    machine.run("cli")
    for name in SERVICES:
        machine.start(name)
    for one in machine.services.values():
        one.wait()
    note = machine.folder / "note.txt"
    note.write_text("a build server opened outbound connections at 02:00\n")
    machine.run("cli", "feed", "--subject", "host:10.0.0.5", str(note))
    deadline = time.monotonic() + PATIENCE
    while not (found := json.loads(machine.run("cli", "cases", "list", "--json"))):
        assert time.monotonic() < deadline, "no case"
    assert [(one["tenant"], one["subject"]) for one in found] == [("default", "host:10.0.0.5")]
    machine.run("cli", "doctor")
    for one in machine.services.values():
        one.stop()
        assert "stopped: 0 restarts" in one.log()


@pytest.mark.campaign
def test_a_service_is_not_healthy_while_kafka_is_away(machine: Machine) -> None:
    machine.run("topics")
    merger = machine.start("merger")
    merger.wait()
    machine.broker.kill()
    deadline = time.monotonic() + NOTICED
    while merger.healthy():
        assert time.monotonic() < deadline, "healthy without Kafka"
        time.sleep(0.2)
    machine.broker.start()
    merger.wait()
