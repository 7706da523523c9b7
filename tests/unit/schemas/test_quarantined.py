"""Quarantined things: the same fault of the same bytes from the same place is the same record."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.quarantined import PREFIX_LIMIT, Quarantined, Source, quarantined

CUT_LINE = b'{"ts":1,"hist'


def one(**changes: Any) -> Quarantined:
    plain: dict[str, Any] = {
        "tenant": "default",
        "what": "input",
        "code": "record_invalid",
        "reason": "not JSON",
        "data": CUT_LINE,
        "source": Source(file="conn.log", line=7),
        "author": "feed",
        "at": 1,
    }
    return quarantined(**plain | changes)


def test_ids_are_pinned() -> None:
    """Computed with sha256sum over the canonical identity."""
    assert one().id == "qua_94afc446fd76e7241fd1a3a6a81b0535a2a19ccb65f5264ad925c8100070235f"
    assert one().payload_digest == "qua_6e09f6af4ff42d634dd75e7f2525b3514eec6cbbe8b0867cb07bbf6eea441992"


def test_a_repeat_is_recognised_whenever_it_comes() -> None:
    assert one(at=2, reason="worded otherwise").id == one().id


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant": "other"},
        {"what": "record"},
        {"code": "id_mismatch"},
        {"data": CUT_LINE + b" "},
        {"source": Source(file="conn.log", line=8)},
        {"source": Source(file="dns.log", line=7)},
        {"source": Source(topic="observations", partition=0, offset=7)},
        {"source": Source(file="conn.log", line=7, options={"kind": "text"})},
        {"author": "worker"},
    ],
    ids=str,
)
def test_anything_else_is_another(changes: dict[str, Any]) -> None:
    assert one(**changes).id != one().id


@given(st.binary(max_size=300))
def test_the_bytes_are_kept(data: bytes) -> None:
    record = Quarantined.parse(one(data=data).encode())
    assert (record.data, record.size, record.cut) == (data, len(data), False)


@pytest.mark.parametrize("more", [0, 1])
def test_of_large_bytes_a_prefix_is_kept_with_the_digest_of_all(more: int) -> None:
    data = b"\x00\xff" * (PREFIX_LIMIT // 2) + b"!" * more
    record = Quarantined.parse(one(data=data).encode())
    assert record.data == data[:PREFIX_LIMIT]
    assert (record.size, record.cut) == (len(data), bool(more))
    assert record.payload_digest == one(data=data).payload_digest
    assert record.payload_digest != one(data=data + b"!").payload_digest
