"""One Redis server from the system's packages."""

from __future__ import annotations

import shutil
from pathlib import Path

import redis

from tests.servers.process import ServerProcess, free_ports

ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")
"""What the deployment asks of Redis: an acknowledged write is on the disk."""


def missing() -> str | None:
    """What a server here lacks, in words; None where it can be started."""
    if shutil.which("redis-server") is None:
        return "no `redis-server`: install the system's package, or run tests/servers/install.sh"
    return None


class RedisServer(ServerProcess):
    """A server with its data in `folder`. `options`: further options of its command line."""

    def __init__(self, folder: Path, options: tuple[str, ...] = ALWAYS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (self.port,) = free_ports(1)
        self.url = f"redis://127.0.0.1:{self.port}/0"
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)]
        super().__init__(folder, [*command, "--save", "", *options], self._answering)

    def _answering(self) -> bool:
        client = redis.Redis(port=self.port, socket_timeout=2.0, retry=None)
        try:
            client.ping()
        except redis.AuthenticationError:
            return True
        except redis.RedisError:
            return False
        finally:
            client.close()
        return True
