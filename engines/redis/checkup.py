"""What is found when the server is looked over: see `engines.checkup`."""

from __future__ import annotations

from collections.abc import Sequence

from engines.checkup import Finding
from engines.redis.part import Part


class Checkup(Part):
    """The part of the store about the server under it."""

    def look_over(self) -> Sequence[Finding]:
        server = self._link.info("server")
        name = "Valkey" if "valkey_version" in server else "Redis"
        version = server.get("valkey_version", server.get("redis_version"))
        found = [Finding(name, "ok", f"{name} {version} at {self._link.where}")]
        return [*found, self._durability(), self._eviction()]

    def _durability(self) -> Finding:
        about = "Redis durability"
        if not self._link.info("persistence").get("aof_enabled"):
            return Finding(
                about, "warning", "no append-only file: a crash is followed by a rebuild; set `appendonly yes`"
            )
        found = self._link.setting("appendfsync")
        if found == "always":
            return Finding(about, "ok", "an acknowledged write is on the disk")
        if found is None:
            return Finding(about, "warning", "the server does not tell `appendfsync`: it should be `always`")
        return Finding(
            about,
            "warning",
            f"`appendfsync {found}`: a crash may lose acknowledged writes, is then noticed, and followed by a rebuild;"
            " set `appendfsync always`",
        )

    def _eviction(self) -> Finding:
        about = "Redis eviction"
        policy = self._link.info("memory").get("maxmemory_policy")
        if policy == "noeviction":
            return Finding(about, "ok", "keys go only when they are dropped")
        return Finding(about, "fault", f"`maxmemory-policy {policy}` throws keys away: set it to `noeviction`")
