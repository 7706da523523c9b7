"""The check that containers of casetape are asked by: the very command, against the endpoint as it is."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from casetape.health import Health, told
from tests.servers.process import free_ports
from tests.unit.deploy import compose_rules, dockerfile_rules

IN_COMPOSE: list[str] = compose_rules.read()["services"]["merger"]["healthcheck"]["test"][1:]
IN_IMAGE: list[str] = json.loads(
    dockerfile_rules.of(dockerfile_rules.parse(dockerfile_rules.FILE.read_text(encoding="utf-8")), "HEALTHCHECK")[
        0
    ].partition("CMD ")[2]
)


def check(port: str) -> int:
    """Its exit code, with the port that is free here."""
    name, *arguments = IN_COMPOSE
    assert name == "python"
    command = [sys.executable, *(one.replace(":8080/", f":{port}/") for one in arguments)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_the_image_asks_the_same() -> None:
    assert IN_IMAGE == IN_COMPOSE


@pytest.mark.parametrize(
    ("health", "code"),
    [
        (Health(True, True, (), {}), 0),
        (Health(True, False, ("it makes no progress",), {}), 1),
        (Health(False, False, ("it hangs",), {}), 1),
    ],
)
def test_it_is_healthy_where_it_is_ready(health: Health, code: int) -> None:
    with told("127.0.0.1:0", lambda: health) as address:
        assert address is not None
        assert check(address.rpartition(":")[2]) == code


def test_it_is_not_where_nothing_answers() -> None:
    (port,) = free_ports(1)
    assert check(str(port)) == 1
