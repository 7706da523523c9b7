"""The servers of deploy/compose.yaml as they are told to start there: the same commands, settings and checks, on the
servers of this machine. What the images add to them (users, read-only files, the networks) is not seen here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import redis
from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from tests.servers import kafka as kafka_here
from tests.servers.process import ServerProcess, free_ports
from tests.unit.deploy.compose_rules import FILE, Compose

PASSWORD = "of # many signs $x \\ \" 'and' ü"  # noqa: S105 - of a server that lives for one test
VARIABLE = re.compile(r"\$\{\w+:-([^}]*)\}")


def told(text: str) -> str:
    """What a container gets of a value in the file."""
    return VARIABLE.sub(r"\1", text).replace("$$", "$")


def placed(text: str, places: dict[str, str]) -> str:
    for inside, here in places.items():
        text = text.replace(inside, here)
    return text


class Store(ServerProcess):
    """Redis as compose.yaml starts it, with its places in `folder`."""

    def __init__(self, compose: Compose, folder: Path) -> None:
        service = compose["services"]["redis"]
        (self.port,) = free_ports(1)
        secret, data, settings = folder / "password", folder / "data", folder / "redis.conf"
        data.mkdir(parents=True)
        secret.write_text(PASSWORD + "\r\n", encoding="utf-8")
        places = {
            "/run/secrets/redis_password": str(secret),
            "/etc/redis.conf": str(settings),
            "/tmp/users.acl": str(folder / "users.acl"),  # noqa: S108 - a place in the container
            "dir /data": f"dir {data}",
            "redis-cli ": f"redis-cli -p {self.port} ",
        }
        own = placed((FILE.parent / "redis.conf").read_text(encoding="utf-8"), places)
        settings.write_text(f"{own}\nport {self.port}\nbind 127.0.0.1\n", encoding="utf-8")
        self.secret = secret
        self.users = folder / "users.acl"
        self.check = placed(told(service["healthcheck"]["test"][1]), places)
        command = [placed(told(word), places) for word in service["command"]]
        super().__init__(folder, command, self.healthy)

    def healthy(self) -> bool:
        """What the service's own check says."""
        return subprocess.run(["sh", "-c", self.check], capture_output=True, check=False).returncode == 0

    def client(self, **login: Any) -> redis.Redis:
        """A client."""
        return redis.Redis(port=self.port, socket_timeout=5, retry=None, decode_responses=True, **login)


class Broker(ServerProcess):
    """Kafka with the settings that the image's own program makes of the service's variables, in `folder`."""

    def __init__(self, compose: Compose, folder: Path) -> None:
        port, outside, controller = free_ports(3)
        self.address = f"127.0.0.1:{port}"
        self.data = folder / "data"
        places = {
            ":9092": f":{port}",
            ":29092": f":{outside}",
            ":9093": f":{controller}",
            "INSIDE://kafka": "INSIDE://127.0.0.1",
            "/var/lib/kafka/data": str(self.data),
        }
        told_to = compose["services"]["kafka"]["environment"].items()
        environment = {name: placed(told(value), places) for name, value in told_to}
        java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{kafka_here.JARS}/*"]
        _make_settings(java, environment, folder)
        super().__init__(folder, [*java, "kafka.Kafka", str(folder / "final" / "server.properties")], self.answers)

    def answers(self) -> bool:
        """Whether a client reaches it."""
        try:
            KafkaAdminClient(bootstrap_servers=self.address, bootstrap_timeout_ms=1_000).close()
        except KafkaError:
            return False
        return True


def _make_settings(java: list[str], environment: dict[str, str], folder: Path) -> None:
    for name in ("default", "mounted", "final"):
        (folder / name).mkdir(parents=True)
    given = [f"--{name}-configs-dir={folder / name}" for name in ("default", "mounted", "final")]
    done = subprocess.run(
        [*java, "kafka.docker.KafkaDockerWrapper", "setup", *given],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
