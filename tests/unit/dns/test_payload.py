"""What a name carries: which part of it is fresh, in what it is written, and what only looks like data."""

from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.dns.asks import BASE32, BASE36, BASE64, HEX, LETTERS, labels, text, word
from workers.detectors.dns.lettering import oddness, word_bits
from workers.detectors.dns.numbering import numbered
from workers.detectors.dns.payload import entropy, is_of_address, payloads, unescaped


def names(alphabet: str, length: int, count: int = 40, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [labels(text(rng, alphabet, length)) + ".t" for _ in range(count)]


@pytest.mark.parametrize(
    ("alphabet", "name", "bits"),
    [
        (HEX, "hex", 4.0),
        (BASE32, "base32", 5.0),
        (LETTERS, "letters", 4.7),
        (BASE36, "letters and digits", 5.17),
        (BASE64, "base64", 6.0),
        ("".join(map(chr, range(0xA0, 0xF0))), "bytes", 7.0),
    ],
)
@pytest.mark.parametrize("length", [10, 30, 100])
def test_each_alphabet_is_told_from_the_others(alphabet: str, name: str, bits: float, length: int) -> None:
    found = payloads(names(alphabet, length), excused=False)
    assert found.alphabet.name == name
    assert len(found.random) >= 36
    assert found.share > 0.9
    assert all(abs(one / length - bits) < 0.03 * bits for one in found.bits)


def test_hex_in_capitals_is_hex() -> None:
    assert payloads([one.upper() for one in names(HEX, 30)]).alphabet.name == "hex"


def test_words_are_not_random() -> None:
    rng = random.Random(2)
    hosts = [f"{word(rng)}{word(rng)}-{word(rng)}.{word(rng)}" for _ in range(300)]
    assert len(payloads(hosts).random) < 15
    assert sum(oddness(word(rng) + word(rng), 26) > 0.25 for _ in range(1_000)) < 60
    for alphabet, symbols in ((LETTERS, 26), (BASE36, 36), (BASE32, 32), (HEX, 16)):
        assert sum(oddness(text(rng, alphabet, 12), symbols) > 0.25 for _ in range(1_000)) > 930
    assert oddness("", 26) == 0
    assert word_bits("server") < word_bits("xqzvkj")


def test_what_many_names_have_carries_nothing() -> None:
    """The session's label, the counter and the tool's own words are left out."""
    rng = random.Random(3)
    session = text(rng, HEX, 24)
    made = [f"post.{text(rng, HEX, 20)}.{session}.cdn-eu" for _ in range(50)]
    found = payloads(made)
    assert set(found.bits) == {80.0}


@pytest.mark.parametrize(
    "one",
    [
        lambda rng: text(rng, HEX, 32),
        lambda rng: text(rng, HEX, 40),
        lambda rng: f"{text(rng, HEX, 32)}.{text(rng, HEX, 32)}",
        lambda rng: str(uuid.UUID(bytes=rng.randbytes(16))),
        lambda rng: f"dev-{uuid.UUID(bytes=rng.randbytes(16))}.iot",
        lambda rng: text(rng, BASE32, 52) + "._email",
        lambda rng: ".".join(str(rng.randrange(256)) for _ in range(4)),
        lambda rng: ".".join(text(rng, HEX, 32)) + ".key1.v6",
    ],
)
def test_identifiers_carry_nothing(one: object) -> None:
    assert callable(one)
    rng = random.Random(4)
    made = [one(rng) for _ in range(100)]
    assert payloads(made).random == ()
    assert payloads([*made[:80], *names(HEX, 50)]).identifiers < 100


def test_half_an_identifier_is_data() -> None:
    rng = random.Random(5)
    for made in (
        [f"{text(rng, HEX, 16)}.{text(rng, HEX, 16)}" for _ in range(50)],
        [f"{n}.{text(rng, HEX, 32)}x" for n in range(50)],
        [text(rng, HEX, rng.choice((32, 40, 30))) for _ in range(50)],
        [".".join(text(rng, HEX, 40)) for _ in range(50)],
    ):
        assert len(payloads(made).random) > 40


@pytest.mark.parametrize(
    ("below", "answer"),
    [
        ("4.3.2.1", True),
        ("4.3.2.1.zen", True),
        ("4.3.2.1.key.zen.dq", True),
        ("4.3.2.256", False),
        ("4.3.2", False),
        (".".join("0123456789abcdef" * 2), True),
        (".".join("0123456789abcdef" * 2) + ".zen", True),
        (".".join("0123456789abcdef" * 2 + "a"), False),
        ("", False),
    ],
)
def test_addresses_turned_round(below: str, answer: bool) -> None:
    assert is_of_address(below) is answer


def test_escaped_bytes_are_bytes() -> None:
    assert unescaped("a\\xbd\\x41.b") == "a\xbdA.b"
    assert unescaped("a\\xg1") == "a\\xg1"


def test_numbered() -> None:
    rng = random.Random(6)
    data = [text(rng, HEX, 8) for _ in range(60)]
    assert numbered([f"{n}.{one}.x" for n, one in enumerate(data)])
    assert numbered([f"{one}.{n:x}.x" for n, one in enumerate(data)])
    assert numbered([f"c{n}-{one}.x" for n, one in enumerate(data)])
    assert numbered([f"{n // 2}.{one}" for n, one in enumerate(data)])
    assert not numbered(data)
    assert not numbered([f"{rng.randrange(60)}.{one}" for one in data])
    assert not numbered([f"7.{one}" for one in data])
    assert not numbered([f"{n}.{one}" for n, one in enumerate(data[:5])])


@given(st.lists(st.text(max_size=80), max_size=30, unique_by=str.lower))
def test_no_names_are_too_strange(made: list[str]) -> None:
    found = payloads(made)
    assert len(found.random) == len(found.bits) <= len(made)
    assert 0 <= found.share <= 1
    assert isinstance(numbered(made), bool)
    mirrored = payloads(made[::-1])
    assert sorted(found.bits) == sorted(mirrored.bits)


def test_entropy() -> None:
    assert (entropy(""), entropy("aaaa"), entropy("abcd")) == (0, 0, 2)
