"""How to reach Kafka."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@dataclass(frozen=True)
class KafkaOptions:
    """`servers`: host:port, several separated by commas. Topics are named `<prefix>.<topic>`, groups
    `<prefix>.<group>`. `ca_file`, `certificate_file`, `key_file`: paths of PEM files. Times in seconds:
    `reach_seconds` until a broker must have answered at the start; `append_seconds` until an append must have been
    acknowledged, or any other call answered; `poll_seconds` until a member that works on a batch must poll again, or
    send a heartbeat. `replication`: copies of the topics that it creates. `member`: a name that makes the membership
    static, so that a restart within the session moves no partition; of each process its own."""

    servers: str
    prefix: str = "casetape"
    security: SecurityProtocol = "PLAINTEXT"
    mechanism: SaslMechanism | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    reach_seconds: float = 10.0
    append_seconds: float = 60.0
    poll_seconds: float = 600.0
    replication: int = 1
    cooperative: bool = True
    member: str | None = None
