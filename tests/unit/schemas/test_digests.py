"""Ids are digests that anyone can recompute."""

from __future__ import annotations

import hashlib
import hmac
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import digests
from schemas.assessment import EMPTY_SET
from schemas.digests import OBSERVATION, digest, set_digest
from tests.strategies import ids

PREFIXES = [
    digests.OBSERVATION,
    digests.ANALYSIS,
    digests.VERSION,
    digests.ASSESSMENT,
    digests.PARAMETERS,
    digests.SET,
    digests.QUARANTINED,
]


def test_pinned() -> None:
    """Computed with sha256sum and openssl, so that they hold whatever this code does."""
    assert digest(OBSERVATION, b"{}") == "inp_5a64c5e0a43991e592842349a4a401ce339c38132babd4e74d68bf2aaa66dad2"
    assert digest(OBSERVATION, b"{}", b"secret") == (
        "inp_dd50a1a312189494b7880fd762c84c806f5819a2cc53a6b4eb537051e5203e37"
    )
    assert EMPTY_SET == "set_07305c91fd87e9932557405d52558b922ef76537478f4adfbb78d0610cafd02e"


@given(st.binary())
def test_it_is_the_documented_hash(body: bytes) -> None:
    assert digest("inp", body) == "inp_" + hashlib.sha256(b"inp\n" + body).hexdigest()
    assert digest("inp", body, b"key") == "inp_" + hmac.new(b"key", b"inp\n" + body, hashlib.sha256).hexdigest()


def test_kinds_of_things_never_share_a_digest() -> None:
    found = {digest(prefix, b"{}").partition("_")[2] for prefix in PREFIXES}
    assert len(found) == len(PREFIXES) == len(set(PREFIXES))


@pytest.mark.parametrize("other", [None, b"", b"other"])
def test_a_secret_changes_every_id(other: bytes | None) -> None:
    assert digest("inp", b"{}", b"secret") != digest("inp", b"{}", other)


@given(st.lists(ids("inp"), max_size=8), st.integers())
def test_a_set_has_neither_order_nor_repeats(found: list[str], seed: int) -> None:
    again = found + found[:3]
    random.Random(seed).shuffle(again)
    assert set_digest(again) == set_digest(found) == set_digest(iter(found))


@given(st.lists(ids("inp"), min_size=1, max_size=8, unique=True))
def test_a_set_with_one_less_is_another(found: list[str]) -> None:
    assert set_digest(found[1:]) != set_digest(found)
