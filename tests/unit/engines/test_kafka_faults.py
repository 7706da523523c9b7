"""Kafka's errors as casetape's."""

from __future__ import annotations

import time

import pytest
from kafka import errors

from engines.kafka.connection import Connection
from engines.kafka.faults import between, passing, put_out, translated, unreachable
from engines.kafka.options import KafkaOptions
from schemas.errors import AccessDenied, EngineError, EngineUnavailable, UnknownTopic, UsageError

SECRET = "hunter2"  # noqa: S105 - of nothing
OPTIONS = KafkaOptions("broker:9092", user="alice", password=SECRET, append_seconds=0.3)
CASES = [
    (errors.SaslAuthenticationFailedError("hunter2"), AccessDenied),
    (errors.TopicAuthorizationFailedError({"t"}), AccessDenied),
    (errors.GroupAuthorizationFailedError("g"), AccessDenied),
    (errors.UnknownTopicOrPartitionError(), UnknownTopic),
    (errors.InvalidTopicError(), UsageError),
    (errors.MessageSizeTooLargeError(), EngineError),
    (errors.KafkaTimeoutError(), EngineUnavailable),
    (errors.NodeNotReadyError(), EngineUnavailable),
    (errors.KafkaConnectionError(), EngineUnavailable),
    (errors.NotLeaderForPartitionError(), EngineUnavailable),
    (errors.NotEnoughReplicasError(), EngineUnavailable),
    (errors.CoordinatorNotAvailableError(), EngineUnavailable),
    (errors.InvalidConfigurationError(), EngineError),
]


@pytest.mark.parametrize(("error", "expected"), CASES, ids=[type(error).__name__ for error, _ in CASES])
def test_each_error_has_its_meaning_and_tells_no_secret(error: errors.KafkaError, expected: type[Exception]) -> None:
    told = translated(error, OPTIONS, "append to topic `t`")
    assert type(told) is expected
    assert "append to topic `t`" in str(told)
    assert "broker:9092" in str(told) or expected in (UsageError, EngineError)
    assert "hunter2" not in str(told)


def test_the_options_do_not_show_the_password() -> None:
    assert "hunter2" not in repr(OPTIONS)


def test_an_unknown_topic_does_not_pass_by_waiting() -> None:
    assert not passing(errors.UnknownTopicOrPartitionError())
    assert passing(errors.LeaderNotAvailableError())


def test_a_commit_between_two_assignments_is_told_from_that_of_a_member_put_out() -> None:
    sharing = errors.CommitFailedError(errors.RebalanceInProgressError())
    assert between(sharing)
    assert not put_out(sharing)
    assert between(errors.RebalanceInProgressError())
    for error in (errors.CommitFailedError(errors.UnknownMemberIdError()), errors.FencedInstanceIdError()):
        assert put_out(error)
        assert not between(error)


@pytest.mark.parametrize(
    ("servers", "reason"),
    [("127.0.0.1:1", "connection refused"), ("no-such-host.invalid:9092", "no-such-host.invalid"), ("x", "HOST:PORT")],
)
def test_why_a_broker_does_not_answer(servers: str, reason: str) -> None:
    told = str(unreachable(KafkaOptions(servers)))
    assert told.startswith(f"Kafka at {servers} does not answer: ")
    assert reason in told
    assert told.endswith("Start it, or correct `kafka.servers`")


def test_a_call_is_tried_again_while_that_may_help() -> None:
    left = [errors.NotLeaderForPartitionError(), errors.NodeNotReadyError()]

    def ask() -> str:
        if left:
            raise left.pop()
        return "answer"

    assert Connection(OPTIONS).tried("ask", ask) == "answer"


def test_a_call_that_never_succeeds_ends_in_time() -> None:
    def ask() -> None:
        raise errors.NodeNotReadyError

    start = time.monotonic()
    with pytest.raises(EngineUnavailable):
        Connection(OPTIONS).tried("ask", ask)
    assert time.monotonic() - start < 5


def test_a_call_that_cannot_succeed_is_tried_once() -> None:
    asked = []

    def ask() -> None:
        asked.append(1)
        raise errors.InvalidConfigurationError

    with pytest.raises(EngineError):
        Connection(OPTIONS).tried("ask", ask)
    assert asked == [1]
