"""A broker that asks for a password."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.kafka import open_log
from engines.kafka.options import KafkaOptions
from engines.log import NewRecord, TopicPartition
from schemas.errors import AccessDenied, EngineUnavailable
from tests.faults.kafka.conftest import skip_where_missing
from tests.servers.kafka import KafkaServer

pytestmark = pytest.mark.needs_services
SECRET = "correct horse"  # noqa: S105 - of a broker that lives for this test
WRONG, OTHERS = "battery staple", "x"
LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_casetape="{}" user_other="x";'


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaOptions]:
    """A broker that lets in `casetape`, who may do everything, and `other`, who may do nothing."""
    skip_where_missing()
    server = KafkaServer(
        tmp_path_factory.mktemp("broker"),
        protocol="SASL_PLAINTEXT",
        settings={
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": LOGIN.format(SECRET),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:casetape;User:ANONYMOUS",
        },
    )
    server.start()
    yield KafkaOptions(
        server.address,
        security="SASL_PLAINTEXT",
        mechanism="PLAIN",
        user="casetape",
        password=SECRET,
        reach_seconds=4.0,
        append_seconds=4.0,
    )
    server.kill()


def test_the_right_password_is_let_in(guarded: KafkaOptions) -> None:
    log = open_log(guarded)
    log.create_topic("observations", 1)
    log.append("observations", [NewRecord("a", b"1")])
    assert [record.value for record in log.read(TopicPartition("observations", 0), 0, 5)] == [b"1"]
    member = log.consumer("group", ["observations"])
    while not member.poll(5, 1.0):
        pass
    member.close()
    log.close()


def test_a_wrong_password_is_told_without_the_password(guarded: KafkaOptions) -> None:
    with pytest.raises(AccessDenied, match="casetape") as caught:
        open_log(replace(guarded, password=WRONG))
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "battery" not in str(chain)
        chain = chain.__cause__


def test_no_password_where_one_is_asked_for_is_told(guarded: KafkaOptions) -> None:
    with pytest.raises(EngineUnavailable, match=r"kafka\.security"):
        open_log(replace(guarded, security="PLAINTEXT", mechanism=None, user=None, password=None))


def test_a_user_without_rights_is_refused(guarded: KafkaOptions) -> None:
    with pytest.raises(AccessDenied, match="other"):
        open_log(replace(guarded, user="other", password=OTHERS)).create_topic("mine", 1)
