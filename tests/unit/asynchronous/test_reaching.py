"""The engine's options as Faust's settings, and the errors of Faust's client as casetape's."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiokafka import errors  # type: ignore[import-untyped]  # it ships no types
from faust import SASLCredentials

from engines.kafka.options import KafkaOptions
from schemas.errors import AccessDenied, CasetapeError, EngineError, EngineUnavailable, Fenced
from workers.asynchronous.reaching import reaching
from workers.asynchronous.serve import translated


def test_servers_and_member() -> None:
    found = reaching(KafkaOptions("one:9092, two:9093", member="left"))
    assert found["broker"] == ["kafka://one:9092", "kafka://two:9093"]
    assert found["broker_credentials"] is None
    assert found["consumer_group_instance_id"] == "left-async"


def test_a_user() -> None:
    word = "secret"
    options = KafkaOptions("one:9092", security="SASL_SSL", mechanism="SCRAM-SHA-512", user="me", password=word)
    found = reaching(options)["broker_credentials"]
    assert isinstance(found, SASLCredentials)
    assert (found.username, found.password, found.mechanism.value) == ("me", word, "SCRAM-SHA-512")
    assert found.ssl_context is not None
    assert found.protocol.value == "SASL_SSL"
    assert word not in repr(found)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="could not connect to Kafka"):
        reaching(KafkaOptions("one:9092", security="SSL", ca_file=str(tmp_path / "none.pem")))


@pytest.mark.parametrize(
    ("error", "kind", "retriable"),
    [
        (errors.GroupAuthorizationFailedError("group"), AccessDenied, False),
        (errors.KafkaConnectionError("away"), EngineUnavailable, True),
        (errors.UnknownMemberIdError("out"), EngineUnavailable, True),
        (ConnectionResetError("away"), EngineUnavailable, True),
        (TimeoutError(), EngineUnavailable, True),
        (Fenced("taken"), Fenced, False),
    ],
)
def test_errors(error: BaseException, kind: type[CasetapeError], retriable: bool) -> None:
    found = translated(error)
    assert type(found) is kind
    assert isinstance(found, CasetapeError)
    assert found.retriable is retriable


def test_what_is_no_error_of_kafka_stays_itself() -> None:
    bug = TypeError("bug")
    assert translated(bug) is bug
