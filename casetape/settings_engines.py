"""The settings of the two engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from engines.kafka.options import KafkaOptions, SaslMechanism, SecurityProtocol
from engines.redis.options import RedisOptions
from schemas.errors import SettingsError
from schemas.keys import TENANT_PATTERN

Address = Annotated[str, Field(pattern=r"^[^\s:]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$")]
EngineName = Literal["embedded", "cluster"]
Prefix = Annotated[str, Field(pattern=TENANT_PATTERN)]
DAY_SECONDS = 86_400


def _addresses(servers: str) -> str:
    if "@" in servers:
        raise ValueError("it must not hold a user or a password: those belong into `kafka.user` and `kafka.password`")
    for one in servers.split(","):
        host, colon, port = one.strip().rpartition(":")
        if not colon or not host or not port.isdecimal():
            raise ValueError("it must be host:port, several with commas between")
    return servers


def _redis_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("redis", "rediss") or not parts.hostname:
        raise ValueError("it must be redis://host:port/database, or rediss:// for TLS")
    if parts.password or "password" in parts.query:
        raise ValueError("it must not hold the password: that belongs into `redis.password` or `redis.password_file`")
    return url


class _Service(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str | None = None
    password: SecretStr | None = None
    password_file: Path | None = Field(default=None, description="a file that holds the password")
    ca_file: Path | None = Field(default=None, description="PEM: whom to trust")
    certificate_file: Path | None = Field(default=None, description="PEM: who we are")
    key_file: Path | None = Field(default=None, description="PEM: the key of our certificate")

    def secret(self, name: str) -> str | None:
        """The password, wherever it stands. Raises SettingsError where its file cannot be read."""
        if self.password is not None or self.password_file is None:
            return None if self.password is None else self.password.get_secret_value()
        try:
            return self.password_file.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"setting `{name}.password_file`: {self.password_file}: {error}") from None


class KafkaSettings(_Service):
    """How to reach Kafka. Times in seconds."""

    servers: Annotated[str, AfterValidator(_addresses)] = Field(
        default="127.0.0.1:9092", description="host:port, several with commas between"
    )
    security: SecurityProtocol = "PLAINTEXT"
    mechanism: SaslMechanism | None = Field(default=None, description="how the password is given")
    reach: float = Field(default=10.0, gt=0, le=DAY_SECONDS, description="until a broker must have answered at a start")
    append: float = Field(default=60.0, gt=0, le=DAY_SECONDS, description="until an append must be acknowledged")
    poll: float = Field(default=600.0, gt=0, le=DAY_SECONDS, description="for which a member may work on one batch")
    replication: int = Field(default=1, ge=1, le=15, description="copies of the topics that are made")
    cooperative: bool = Field(default=True, description="whether a rebalance leaves alone what stays where it is")
    member: str | None = Field(default=None, description="a name, of this process only, for a static membership")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.security.startswith("SASL") and (self.mechanism is None or self.user is None):
            raise ValueError(f"{self.security} needs `mechanism`, `user` and a password")
        return self

    def options(self, prefix: str) -> KafkaOptions:
        """What the engine takes. Raises SettingsError."""
        return KafkaOptions(
            servers=self.servers,
            prefix=prefix,
            security=self.security,
            mechanism=self.mechanism,
            user=self.user,
            password=self.secret("kafka"),
            ca_file=_path(self.ca_file),
            certificate_file=_path(self.certificate_file),
            key_file=_path(self.key_file),
            reach_seconds=self.reach,
            append_seconds=self.append,
            poll_seconds=self.poll,
            replication=self.replication,
            cooperative=self.cooperative,
            member=self.member,
        )


class RedisSettings(_Service):
    """How to reach Redis. Times in seconds."""

    url: Annotated[str, AfterValidator(_redis_url)] = Field(
        default="redis://127.0.0.1:6379/0", description="rediss:// for TLS"
    )
    cluster: bool = Field(default=False, description="whether it is a Redis Cluster")
    reach: float = Field(default=10.0, gt=0, le=DAY_SECONDS, description="until it must have answered at a start")
    answer: float = Field(default=10.0, gt=0, le=DAY_SECONDS, description="until one call must be answered")

    def options(self, prefix: str) -> RedisOptions:
        """What the engine takes. Raises SettingsError."""
        return RedisOptions(
            url=self.url,
            prefix=prefix,
            user=self.user,
            password=self.secret("redis"),
            ca_file=_path(self.ca_file),
            certificate_file=_path(self.certificate_file),
            key_file=_path(self.key_file),
            cluster=self.cluster,
            reach_seconds=self.reach,
            answer_seconds=self.answer,
        )


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
