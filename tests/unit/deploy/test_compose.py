"""deploy/compose.yaml: it keeps the Compose Specification and the rules of this repository, and a file that breaks one
is found. No container is started here."""

from __future__ import annotations

import json
import re
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import typer.main
from jsonschema import Draft202012Validator

from casetape.cli import app
from casetape.settings import load
from engines.opening import ClusterOptions
from tests.servers import containers
from tests.tree import ROOT
from tests.unit.deploy import compose_rules as rules
from tests.unit.deploy.compose_rules import RULES, Compose, Rule, ours, read, services

SCHEMA = json.loads((ROOT / "tests/fixtures/compose-spec/compose-spec.json").read_text(encoding="utf-8"))
VARIABLE = re.compile(r"\$\{\w+:-([^}]*)\}")


@pytest.fixture
def compose() -> Compose:
    return read()


def refused(compose: Compose) -> list[str]:
    """What the Compose Specification finds wrong."""
    return [one.message for one in Draft202012Validator(SCHEMA).iter_errors(compose)]


def test_it_keeps_the_compose_specification(compose: Compose) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert refused(compose) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("services.redis.read_onyl", True),
        ("services.merger.restart", 3),
        ("services.merger.depends_on", {"kafka": {"condition": "service_there"}}),
        ("services.kafka.healthcheck.test", 1),
        ("servces", {}),
    ],
)
def test_a_file_that_is_no_compose_file_is_found(compose: Compose, place: str, value: Any) -> None:
    assert refused(changed(compose, place, value))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_it_keeps_the_rule(compose: Compose, rule: Rule) -> None:
    assert rule(compose) == []


GONE = object()
"""In place of a value: the key is taken out."""


def changed(compose: Compose, place: str, value: Any) -> Compose:
    """A copy with one value replaced; `place` is keys with dots between."""
    copy = deepcopy(compose)
    *above, last = place.split(".")
    inner = copy
    for key in above:
        inner = inner[key]
    if value is GONE:
        del inner[last]
    else:
        inner[last] = value
    return copy


BROKEN: list[tuple[Rule, str, Any]] = [
    (rules.nobody_is_root, "services.redis.user", GONE),
    (rules.nobody_is_root, "services.merger.user", "0:0"),
    (rules.nobody_is_root, "services.kafka.user", "root"),
    (rules.nothing_is_written_beside_volumes, "services.worker-dns.read_only", False),
    (rules.nothing_is_written_beside_volumes, "services.feed.volumes", ["./logs:/logs"]),
    (
        rules.nothing_is_written_beside_volumes,
        "services.feed.volumes",
        [{"type": "bind", "source": "a", "target": "b"}],
    ),
    (rules.nobody_has_privileges, "services.kafka.cap_drop", GONE),
    (rules.nobody_has_privileges, "services.kafka.cap_add", ["NET_ADMIN"]),
    (rules.nobody_has_privileges, "services.redis.security_opt", []),
    (rules.nobody_has_privileges, "services.merger.privileged", True),
    (rules.nobody_has_privileges, "services.merger.network_mode", "host"),
    (rules.health_is_a_call, "services.merger.healthcheck", GONE),
    (rules.health_is_a_call, "services.merger.healthcheck.test", ["CMD", "true"]),
    (rules.health_is_a_call, "services.worker-dns.healthcheck.test", ["CMD", "pgrep", "casetape"]),
    (rules.health_is_a_call, "services.kafka.healthcheck.test", ["CMD", "nc", "-z", "kafka", "9092"]),
    (rules.health_is_a_call, "services.redis.healthcheck.test", ["CMD", "redis-cli", "ping"]),
    (rules.health_is_a_call, "services.redis.healthcheck.timeout", GONE),
    (rules.health_is_a_call, "services.topics.healthcheck", GONE),
    (rules.all_start_again, "services.merger.restart", GONE),
    (rules.all_start_again, "services.topics.restart", "unless-stopped"),
    (rules.no_secret_stands_here, "services.redis.environment", {"REDIS_PASSWORD": "x"}),
    (rules.no_secret_stands_here, "services.merger.environment.CASETAPE_REDIS__PASSWORD", "x"),
    (rules.no_secret_stands_here, "services.merger.environment.CASETAPE_REDIS__PASSWORD_FILE", "x"),
    (rules.no_secret_stands_here, "services.merger.environment.CASETAPE_REDIS__URL", "redis://a:b@redis:6379/0"),
    (rules.no_secret_stands_here, "services.redis.command", ["redis-server", "--requirepass", "x"]),
    (rules.no_secret_stands_here, "services.redis.healthcheck.test", ["CMD-SHELL", "redis-cli -a x ping"]),
    (rules.no_secret_stands_here, "secrets.redis_password", {"environment": "PASSWORD"}),
    (rules.versions_are_pinned, "services.redis.image", "redis"),
    (rules.versions_are_pinned, "services.redis.image", "redis:latest"),
    (rules.versions_are_pinned, "services.redis.image", "redis:7"),
    (rules.versions_are_pinned, "services.kafka.image", "mirror.example/apache/kafka:4.1.1"),
    (rules.versions_are_pinned, "services.merger.pull_policy", GONE),
    (rules.each_waits_for_what_it_needs, "services.merger.depends_on.topics.condition", "service_started"),
    (rules.each_waits_for_what_it_needs, "services.topics.depends_on.kafka", GONE),
    (rules.each_waits_for_what_it_needs, "services.worker-dns.depends_on", GONE),
    (rules.ports_are_of_this_machine_only, "services.kafka.ports", ["29092:29092"]),
    (rules.ports_are_of_this_machine_only, "services.redis.ports", ["0.0.0.0:6379:6379"]),
    (rules.only_kafka_can_be_reached_from_outside, "networks.inside.internal", False),
    (rules.only_kafka_can_be_reached_from_outside, "services.redis.networks", ["inside", "outside"]),
    (rules.only_kafka_can_be_reached_from_outside, "services.merger.networks", GONE),
    (rules.all_have_limits, "services.redis.deploy.resources.limits.memory", GONE),
    (rules.all_have_limits, "services.cli.deploy", GONE),
    (rules.there_is_time_to_stop, "services.worker-dns.stop_grace_period", GONE),
    (rules.there_is_time_to_stop, "services.worker-dns.stop_grace_period", "10s"),
    (rules.data_outlives_containers, "services.redis.volumes", ["redis-data:/elsewhere"]),
    (rules.data_outlives_containers, "services.kafka.volumes", GONE),
    (rules.data_outlives_containers, "volumes", {}),
    (rules.every_set_has_two_workers, "services.worker-dns.deploy.replicas", 1),
    (rules.every_set_has_two_workers, "services.worker-dns.command", ["worker"]),
    (rules.every_set_has_two_workers, "services.worker-recorder", GONE),
]


@pytest.mark.parametrize(
    ("rule", "place", "value"),
    BROKEN,
    ids=[f"{rule.__name__}-{place}-{number}" for number, (rule, place, _) in enumerate(BROKEN)],
)
def test_a_broken_file_is_found(compose: Compose, rule: Rule, place: str, value: Any) -> None:
    assert rule(changed(compose, place, value))


def test_every_rule_is_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(RULES)


def parsed(command: list[str]) -> None:
    """Reads a command line as casetape does, without running it. Raises where it would be a usage error."""
    verb: Any = typer.main.get_command(app)
    rest = list(command)
    while hasattr(verb, "commands"):
        name = rest.pop(0)
        verb = verb.commands[name]
    verb.make_context(name, rest)


@pytest.mark.parametrize("name", [name for name, _ in ours(read())])
def test_every_command_is_one_that_casetape_has(compose: Compose, name: str) -> None:
    parsed(compose["services"][name]["command"])


@pytest.mark.parametrize(
    "command",
    [["topics", "mke"], ["wrker"], ["worker", "--detector", "dns"], ["merger", "surplus"], ["feed", "--folow", "x"]],
)
def test_a_command_that_casetape_has_not_is_found(command: list[str]) -> None:
    with pytest.raises(Exception, match=r"mke|wrker|detector|surplus|folow"):
        parsed(command)


@pytest.mark.parametrize("name", [name for name, _ in ours(read())])
def test_every_variable_is_a_setting(
    compose: Compose, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = tmp_path / "password"
    password.write_text("told by a file\n")
    for variable, value in compose["services"][name]["environment"].items():
        monkeypatch.setenv(variable, VARIABLE.sub(r"\1", value))
    monkeypatch.setenv("CASETAPE_REDIS__PASSWORD_FILE", str(password))
    monkeypatch.chdir(tmp_path)
    options = load({}).engine_options()
    assert isinstance(options, ClusterOptions)
    assert (options.kafka.servers, options.redis.url) == ("kafka:9092", "redis://redis:6379/0")
    assert (options.redis.user, options.redis.password) == ("casetape", "told by a file")


def test_the_servers_are_those_that_tests_use(compose: Compose) -> None:
    images = compose["services"]["kafka"]["image"], compose["services"]["redis"]["image"]
    assert images == (containers.KAFKA_IMAGE, containers.REDIS_IMAGE)


def test_the_image_has_the_version_of_the_package(compose: Compose) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert {one["image"] for _, one in ours(compose)} == {f"casetape:{version}"}


def test_what_it_takes_from_this_folder_is_there(compose: Compose) -> None:
    deploy = rules.FILE.parent
    assert (deploy / compose["configs"]["redis_conf"]["file"]).is_file()
    for _, one in ours(compose):
        assert (deploy / one["build"]["context"] / one["build"]["dockerfile"]).is_file()


def test_what_it_must_not_keep_is_kept_out_of_git() -> None:
    ignored = (rules.FILE.parent / ".gitignore").read_text(encoding="utf-8").split()
    assert {".env", "/secrets/"} <= set(ignored)


def redis_settings() -> dict[str, str]:
    """The lines of redis.conf that say something."""
    lines = (rules.FILE.parent / "redis.conf").read_text(encoding="utf-8").splitlines()
    return {name: value for name, _, value in (line.partition(" ") for line in lines if line and line[0] != "#")}


def test_redis_loses_nothing_that_it_acknowledged() -> None:
    found = redis_settings()
    assert (found["appendonly"], found["appendfsync"], found["dir"]) == ("yes", "always", "/data")
    assert found["no-appendfsync-on-rewrite"] == "no"
    assert found["maxmemory-policy"] == "noeviction"
    assert not {"requirepass", "user"} & set(found)


def test_redis_refuses_writes_before_its_container_is_out_of_memory(compose: Compose) -> None:
    most = int(redis_settings()["maxmemory"].removesuffix("mb"))
    limit = compose["services"]["redis"]["deploy"]["resources"]["limits"]["memory"]
    # rewriting its file may need as much again
    assert 2 * most <= int(limit.removesuffix("g")) * 1024


def test_kafka_loses_nothing_that_it_acknowledged(compose: Compose) -> None:
    said = compose["services"]["kafka"]["environment"]
    assert (said["KAFKA_LOG_FLUSH_INTERVAL_MESSAGES"], said["KAFKA_AUTO_CREATE_TOPICS_ENABLE"]) == ("1", "false")
    assert said["KAFKA_LOG_DIRS"] == rules.SERVERS["kafka"]
    assert all(isinstance(value, str) for value in said.values())


def test_no_service_is_forgotten(compose: Compose) -> None:
    assert {name for name, _ in services(compose)} == {*rules.SERVERS, *rules.SETS, *rules.ONCE, "merger", "feed"}
