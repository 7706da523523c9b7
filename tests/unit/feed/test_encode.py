"""The fast way to an observation's bytes is the same as the models' way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RecordInvalid
from schemas.observation import Observation, ObservationContent
from schemas.scales import AHEAD, EARLIEST, FLOOR, LIMIT
from tests.strategies import objects, subjects, tenants
from tests.unit.feed.reading import NOW, got, line
from workers.feed.encode import Encoder
from workers.feed.reader import Item

times = st.one_of(st.none(), st.integers(FLOOR, LIMIT - 1), st.sampled_from([EARLIEST, EARLIEST - 1, NOW + AHEAD]))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(tenants, subjects, times, objects, texts, st.sampled_from([None, "mask-1"]), st.sampled_from([None, b"key"]))
def test_the_same_bytes(
    tenant: str, subject: str, at: int | None, data: Any, origin: str, redaction: str | None, secret: bytes | None
) -> None:
    encoder = Encoder(tenant, redaction=redaction, secret=secret)
    encoder.now = NOW
    for _ in range(2):
        new = encoder.record(Item("zeek.conn", subject, at, {"data": data}, origin))
        plain = Observation(
            schema_=1,
            content=ObservationContent(data=data),
            tenant=tenant,
            subject=subject,
            at=at,
            origin=origin,
            kind="zeek.conn",
            redaction=redaction,
            flags=()
            if at is not None and EARLIEST <= at <= NOW + AHEAD
            else ("clock",)
            if at is not None
            else ("no_time",),
        )
        assert new.value == plain.proven(secret).encode()
        assert new.key == plain.case
        assert Observation.parse(new.value).proven(secret).id


def test_a_subject_that_is_none_is_refused() -> None:
    with pytest.raises(RecordInvalid, match="subject"):
        Encoder("default", redaction=None, secret=None).record(Item("text", "", None, {"text": "x"}, ""))


class Masking:
    """Takes one field out."""

    version = "mask-1"

    def apply(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: "***" if name in ("hidden", "text") else value for name, value in record.items()}

    def apply_bytes(self, data: bytes) -> bytes:
        return data.replace(b"canary", b"***")


def test_redaction_runs_before_the_id_and_over_quarantined_bytes() -> None:
    content = line(hidden="canary") + line(hidden="other") + b'{"canary\n'
    first, second = got(content, redaction=Masking()).observations
    assert (first.id, first.redaction) == (second.id, "mask-1")
    (fault,) = got(content, redaction=Masking()).faults
    assert fault.data == b'{"***'
