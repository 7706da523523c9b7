"""What is taken in from the tape, and what is not."""

from __future__ import annotations

import json

import pytest

from engines.log import LogRecord, TopicPartition
from schemas.errors import IdMismatch, InputError, RecordInvalid, TenantMismatch, UnknownType
from schemas.observation import Observation
from schemas.quarantined import Quarantined
from schemas.scales import AHEAD, EARLIEST
from tests.factories import START, observation
from workers.detection.intake import event_time, taken_in
from workers.detection.quarantining import bad_record

CANARY = "canary-5f0e"
AT = TopicPartition("observations", 3)


def record(value: bytes, key: str = "default/host:10.0.0.5", appended_at: int = START) -> LogRecord:
    return LogRecord(41, key, value, appended_at)


def changed(**fields: object) -> bytes:
    body = json.loads(observation(data={"x": CANARY}).encode())
    return json.dumps({name: value for name, value in (body | fields).items() if value != "-"}).encode()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (changed(schema="-"), UnknownType),
        (changed(schema=2), UnknownType),
        (changed(schema=CANARY), UnknownType),
        (changed(at=CANARY), RecordInvalid),
        (changed(content={"data": {"x": CANARY}, "text": CANARY}), RecordInvalid),
        (changed(more=CANARY), RecordInvalid),
        (changed(subject=f"{CANARY}\n"), RecordInvalid),
        (changed(id="inp_" + "0" * 64), IdMismatch),
        (changed(content={"data": {"x": CANARY + "!"}}), IdMismatch),
        (CANARY.encode(), RecordInvalid),
    ],
)
def test_what_is_wrong_is_named_without_its_content(value: bytes, kind: type[InputError]) -> None:
    """Second table, rows 9 and 10: with topic, partition and offset, and the field's path."""
    error = taken_in(record(value))
    assert type(error) is kind
    assert CANARY not in str(error)
    made = Quarantined.parse(bad_record(record(value), AT, error, "detect-test", 5).value)
    assert (made.source.topic, made.source.partition, made.source.offset) == ("observations", 3, 41)
    assert (made.code, made.reason, made.data) == (error.code, str(error), value)


@pytest.mark.parametrize(
    ("tenant", "key"),
    [
        ("acme", "acme-corp/host:10.0.0.5"),
        ("acme-corp", "acme/host:10.0.0.5"),
        ("acme", "acme/host:10.0.0.50"),
        ("acme", "acme/host:10.0.0"),
        ("acme", "acme"),
        ("acme", ""),
        ("acme", "acme/host%3A10.0.0.5"),
        ("acme", "ACME/host:10.0.0.5"),
    ],
)
def test_a_key_that_names_another_case_is_refused(tenant: str, key: str) -> None:
    """I8, on whole segments; its quarantine record goes to the key's tenant, which is all that can be believed."""
    value = observation(tenant=tenant).encode()
    error = taken_in(record(value, key))
    assert isinstance(error, TenantMismatch)
    made = bad_record(record(value, key), AT, error, "detect-test", 5)
    assert made.key == (key.partition("/")[0] if key.startswith("acme") else "default")
    assert isinstance(taken_in(record(value, f"{tenant}/host:10.0.0.5")), Observation)


@pytest.mark.parametrize(
    ("at", "flagged"),
    [
        (EARLIEST - 1, True),
        (EARLIEST, False),
        (0, True),
        (START + AHEAD, False),
        (START + AHEAD + 1, True),
        (-(10**15), True),
    ],
)
def test_a_clock_is_judged_by_the_logs_time(at: int, flagged: bool) -> None:
    """I10: whoever wrote the record, and whenever it is read."""
    taken = taken_in(record(observation(at=at).encode()))
    assert isinstance(taken, Observation)
    assert ("clock" in taken.flags) is flagged
    assert event_time(taken) == (None if flagged else at)
    assert taken.id == observation(at=at).id


def test_flags_that_a_producer_set_stay() -> None:
    taken = taken_in(record(observation(at=0, flags=("clock",)).encode()))
    assert isinstance(taken, Observation)
    assert taken.flags == ("clock",)


def test_an_id_may_be_left_out() -> None:
    taken = taken_in(record(changed(id="-")))
    assert isinstance(taken, Observation)
    assert taken.id == observation(data={"x": CANARY}).id


def test_a_tenants_secret_proves_its_ids() -> None:
    assert isinstance(taken_in(record(observation().encode()), b"secret"), IdMismatch)
