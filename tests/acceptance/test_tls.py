"""TLS, and a user of Redis's ACL, go through the settings: all the way, from a sentence to its case."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import casetape
from tests.servers import certificates, kafka, redis
from tests.servers.certificates import Certificates
from tests.servers.kafka import KafkaServer
from tests.servers.process import free_ports
from tests.servers.redis import RedisServer

pytestmark = pytest.mark.needs_services
SECRET = "of-a-server-that-lives-for-this-test"  # noqa: S105 - it says so
RIGHTS = "on allchannels ~tls:* +@all -@admin -@dangerous +info +config|get"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings of servers that speak TLS only."""
    lacking = [one for one in (kafka.missing(), redis.missing()) if one]
    lacking += [] if shutil.which("openssl") else ["no `openssl` to make certificates with"]
    if lacking:
        pytest.skip("; ".join(lacking))
    folder = tmp_path_factory.mktemp("tls")
    own, stranger = certificates.made(folder / "own"), certificates.made(folder / "stranger")
    broker, (store, address) = _kafka(folder, own), _redis(folder, own)
    broker.start()
    store.start()
    yield {
        "CASETAPE_ENGINE": "cluster",
        "CASETAPE_PREFIX": "tls",
        "CASETAPE_PARTITIONS": "2",
        "CASETAPE_KAFKA__SERVERS": broker.address,
        "CASETAPE_KAFKA__SECURITY": "SSL",
        "CASETAPE_KAFKA__CA_FILE": str(own.ca),
        "CASETAPE_KAFKA__REACH": "10",
        "CASETAPE_REDIS__URL": address,
        "CASETAPE_REDIS__CA_FILE": str(own.ca),
        "CASETAPE_REDIS__USER": "casetape",
        "CASETAPE_REDIS__PASSWORD": SECRET,
        "STRANGER": str(stranger.ca),
    }
    broker.kill()
    store.kill()


def _kafka(folder: Path, own: Certificates) -> KafkaServer:
    chain = folder / "server.pem"
    chain.write_text(own.key.read_text() + own.certificate.read_text() + own.ca.read_text())
    settings = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(chain), "ssl.client.auth": "none"}
    return KafkaServer(folder / "kafka", protocol="SSL", settings=settings)


def _redis(folder: Path, own: Certificates) -> tuple[RedisServer, str]:
    (port,) = free_ports(1)
    files = ("--tls-ca-cert-file", own.ca, "--tls-cert-file", own.certificate, "--tls-key-file", own.key)
    tls = ("--tls-port", str(port), "--tls-auth-clients", "no", *map(str, files))
    # the plain port stays for the test's own look at whether it answers
    server = RedisServer(folder / "redis", (*tls, "--user", "casetape", *f"{RIGHTS} >{SECRET}".split(" ")))
    return server, f"rediss://127.0.0.1:{port}/0"


def test_a_sentence_becomes_a_case(tmp_path: Path, env: dict[str, str]) -> None:
    assert casetape(tmp_path, "topics", "create", env=env).code == 0
    told = ("--kind", "text", "--subject", "host:10.0.0.5", "--json")
    assert casetape(tmp_path, "feed", "-", *told, stdin=b"two in the morning", env=env).json["appended"] == 1
    assert casetape(tmp_path, "run", "--json", env=env).json["recorded"] == 1
    (row,) = casetape(tmp_path, "cases", "list", "--json", env=env).json
    assert row["subject"] == "host:10.0.0.5"
    assert casetape(tmp_path, "doctor", env=env).code == 0


@pytest.mark.parametrize("service", ["KAFKA", "REDIS"])
def test_a_server_that_nobody_vouches_for_is_not_spoken_to(tmp_path: Path, env: dict[str, str], service: str) -> None:
    other = {**env, f"CASETAPE_{service}__CA_FILE": env["STRANGER"], f"CASETAPE_{service}__REACH": "3"}
    answer = casetape(tmp_path, "cases", "list", env=other)
    assert (answer.code, answer.out) == (1, "")
    (line,) = answer.err.splitlines()
    assert service.title() in line
    assert "certificate" in line.lower()
    assert SECRET not in line
