"""How to reach Redis."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RedisOptions:
    """`url`: redis://host:port/database or rediss:// for TLS; may name the user, and should leave the password to
    `password`. Every key begins with `<prefix>:`. `ca_file`, `certificate_file`, `key_file`: paths of PEM files.
    `cluster`: whether it is a Redis Cluster. Times in seconds: `reach_seconds` until it must have answered at the
    start, `answer_seconds` until one call must have been answered, its repeats included."""

    url: str
    prefix: str = "casetape"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    cluster: bool = False
    reach_seconds: float = 10.0
    answer_seconds: float = 10.0
