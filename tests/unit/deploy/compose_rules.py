"""What compose.yaml must be, each rule as a function from the file to the faults it finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.tree import ROOT

FILE = ROOT / "deploy" / "compose.yaml"
ONCE = {"topics", "cli"}
"""Services that do one thing and end."""
SERVERS = {"kafka": "/var/lib/kafka/data", "redis": "/data"}
"""Services of others, and where their data lies."""
SETS = {"worker-beaconing", "worker-dns", "worker-recorder"}
GRACE_SECONDS = 60
"""Enough for a worker to finish its batch, save its windows and hand over."""
CALLS = {
    "kafka": r"kafka-(topics|broker-api-versions)\.sh --bootstrap-server kafka:9092",
    "redis": r"redis-cli .*ping \| grep -qx PONG",
    "feed": r"^casetape doctor$",
}
READY = r"urlopen\('http://127\.0\.0\.1:8080/ready'"
HEALTHY, COMPLETED = "service_healthy", "service_completed_successfully"
SECRET = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIAL|PRIVATE_KEY|API_KEY", re.I)
SECRET_ARGUMENT = re.compile(r"--(?:requirepass|masterauth|pass)\b|\bredis-cli\b[^|\n]* -a\b")
IN_ADDRESS = re.compile(r"://[^/\s@]*:[^/\s@]+@")

Compose = dict[str, Any]
Rule = Callable[[Compose], list[str]]


def read(path: Path = FILE) -> Compose:
    """The file with its anchors resolved, as Python values."""
    found: Compose = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def services(compose: Compose) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and services."""
    yield from compose["services"].items()


def ours(compose: Compose) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Those that run casetape."""
    yield from ((name, one) for name, one in services(compose) if name not in SERVERS)


def words(command: Any) -> str:
    """A command or a check as one line of words, without the word that says how it is run."""
    listed = [command] if isinstance(command, str) else list(command)
    return " ".join(listed[1:] if listed[:1] in (["CMD"], ["CMD-SHELL"]) else listed)


def nobody_is_root(compose: Compose) -> list[str]:
    users = {name: str(one.get("user", "")) for name, one in services(compose)}
    return [f"{name}: user {user!r}" for name, user in users.items() if user.partition(":")[0] in ("", "0", "root")]


def nothing_is_written_beside_volumes(compose: Compose) -> list[str]:
    found = [f"{name}: its file system can be written" for name, one in services(compose) if not one.get("read_only")]
    for name, one in services(compose):
        for volume in one.get("volumes", ()):
            if isinstance(volume, str):
                source, *rest = volume.split(":")
                bound, writable = source.startswith((".", "/", "~", "$")), "ro" not in rest[1:]
            else:
                bound, writable = volume["type"] == "bind", not volume.get("read_only")
            if bound and writable:
                found.append(f"{name}: it can write to {volume}")
    return found


def nobody_has_privileges(compose: Compose) -> list[str]:
    found = []
    for name, one in services(compose):
        if one.get("cap_drop") != ["ALL"] or one.get("cap_add"):
            found.append(f"{name}: capabilities")
        if "no-new-privileges:true" not in one.get("security_opt", ()):
            found.append(f"{name}: new privileges")
        shared = [key for key in ("network_mode", "pid", "ipc", "userns_mode") if one.get(key) == "host"]
        if one.get("privileged") or one.get("devices") or shared:
            found.append(f"{name}: the host's own")
    return found


def health_is_a_call(compose: Compose) -> list[str]:
    found = []
    for name, one in services(compose):
        check = one.get("healthcheck", {})
        if name in ONCE:
            if check != {"disable": True}:
                found.append(f"{name}: it ends, and would be found unhealthy by the image's own check")
            continue
        if not re.search(CALLS.get(name, READY), words(check.get("test", ""))):
            found.append(f"{name}: its check calls nothing: {check.get('test')}")
        missing = {"interval", "timeout", "retries", "start_period"} - set(check)
        found += [f"{name}: its check has no {key}" for key in sorted(missing)]
    return found


def all_start_again(compose: Compose) -> list[str]:
    wanted = dict.fromkeys(compose["services"], "unless-stopped") | {"topics": "on-failure:5", "cli": "no"}
    return [
        f"{name}: restart {one.get('restart')!r}"
        for name, one in services(compose)
        if one.get("restart") != wanted[name]
    ]


def no_secret_stands_here(compose: Compose) -> list[str]:
    found = []
    for name, one in services(compose):
        for variable, value in one.get("environment", {}).items():
            if SECRET.search(variable) and not (variable.endswith("_FILE") and str(value).startswith("/run/secrets/")):
                found.append(f"{name}: {variable}")
            if IN_ADDRESS.search(str(value)):
                found.append(f"{name}: a password in the address of {variable}")
        said = f"{words(one.get('command', ''))} {words(one.get('healthcheck', {}).get('test', ''))}"
        if SECRET_ARGUMENT.search(said):
            found.append(f"{name}: a password among arguments, which every process may read")
    found += [f"secret {name}: {one}" for name, one in compose["secrets"].items() if set(one) != {"file"}]
    return found


def versions_are_pinned(compose: Compose) -> list[str]:
    found = []
    for name, one in services(compose):
        image, _, tag = one.get("image", "").rpartition(":")
        if not re.match(r"\d+\.\d+", tag):
            found.append(f"{name}: version {tag!r}")
        if re.search(r"[.:]", image.partition("/")[0]):
            found.append(f"{name}: it names a registry")
        if name not in SERVERS and one.get("pull_policy") != "never":
            found.append(f"{name}: what was built here could be pulled from elsewhere")
    return found


def each_waits_for_what_it_needs(compose: Compose) -> list[str]:
    found = []
    for name, one in ours(compose):
        wanted = {"kafka": HEALTHY, "redis": HEALTHY} if name != "cli" else {}
        if name not in ONCE:
            wanted["topics"] = COMPLETED
        given = {other: how.get("condition") for other, how in one.get("depends_on", {}).items()}
        if given != wanted:
            found.append(f"{name}: waits for {given}")
    return found


def ports_are_of_this_machine_only(compose: Compose) -> list[str]:
    return [
        f"{name}: {port}"
        for name, one in services(compose)
        for port in one.get("ports", ())
        if not str(port).startswith("127.0.0.1:")
    ]


def only_kafka_can_be_reached_from_outside(compose: Compose) -> list[str]:
    inner = {name for name, one in compose["networks"].items() if one.get("internal")}
    return [
        f"{name}: in {one.get('networks')}"
        for name, one in services(compose)
        if not one.get("networks") or (name != "kafka" and not set(one["networks"]) <= inner)
    ]


def all_have_limits(compose: Compose) -> list[str]:
    limits = {name: one.get("deploy", {}).get("resources", {}).get("limits", {}) for name, one in services(compose)}
    return [f"{name}: {given}" for name, given in limits.items() if not {"cpus", "memory", "pids"} <= set(given)]


def there_is_time_to_stop(compose: Compose) -> list[str]:
    given = {name: str(one.get("stop_grace_period", "")) for name, one in services(compose)}
    return [
        f"{name}: {time}"
        for name, time in given.items()
        if not re.fullmatch(r"\d+s", time) or int(time[:-1]) < GRACE_SECONDS
    ]


def data_outlives_containers(compose: Compose) -> list[str]:
    found = []
    for name, place in SERVERS.items():
        held = [str(volume).split(":") for volume in compose["services"][name].get("volumes", ())]
        kept = [source for source, target, *_ in held if target == place]
        if len(kept) != 1 or kept[0] not in compose.get("volumes", {}):
            found.append(f"{name}: {place} is in no named volume")
    return found


def every_set_has_two_workers(compose: Compose) -> list[str]:
    found = {name: one for name, one in ours(compose) if name.startswith("worker-")}
    faults = [f"{name}: there is none" for name in sorted(SETS - set(found))]
    for name, one in found.items():
        if one.get("command") != ["worker", "--detectors", name.removeprefix("worker-")]:
            faults.append(f"{name}: {one.get('command')}")
        if one.get("deploy", {}).get("replicas") != 2:
            faults.append(f"{name}: {one.get('deploy', {}).get('replicas')} of it")
    return faults


RULES: tuple[Rule, ...] = (
    nobody_is_root,
    nothing_is_written_beside_volumes,
    nobody_has_privileges,
    health_is_a_call,
    all_start_again,
    no_secret_stands_here,
    versions_are_pinned,
    each_waits_for_what_it_needs,
    ports_are_of_this_machine_only,
    only_kafka_can_be_reached_from_outside,
    all_have_limits,
    there_is_time_to_stop,
    data_outlives_containers,
    every_set_has_two_workers,
)
