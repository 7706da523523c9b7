"""I7, I9: whatever the bytes, no reader crashes, the counts close, and every record that comes out proves itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.feed.fuzzing import TARGETS, check
from workers.feed.sniff import READERS

MARKS = (b"\n", b"\t", b"\r", b"#", b"{", b"}", b"[" * 200, b'"', b"\\", b"\\x", b"\\u0000", b"\\ud800", b"null", b"-")
NUMBERS = (b"1e999", b"9" * 400, b"NaN", b"1")
ODD = (b"\xc1", b"\xef\xbb\xbf", b"\0", b"(empty)", b",", b"   ", b"|")
HEADERS = (b"#fields\tts\n", b"#types\ttime\n", b"#separator |\n", b"#path\ta/b\n", b"#unset_field\t\n")
FIELDS = (b'"event_type":', b'"message":"{', b'"timestamp":', b'"flow":{"src_ip":1}', b'"System":[', b'"@timestamp":{}')
pieces = st.one_of(st.binary(max_size=6), st.sampled_from((*MARKS, *NUMBERS, *ODD, *HEADERS, *FIELDS)))


@st.composite
def spoiled(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """Real content with bytes replaced, taken out, put in, doubled or cut off."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(content)))
        how = draw(st.sampled_from(["replace", "remove", "insert", "double", "cut"]))
        some = draw(pieces)
        if how == "replace":
            content[at : at + len(some)] = some
        elif how == "remove":
            del content[at : at + draw(st.integers(1, 30))]
        elif how == "insert":
            content[at:at] = some
        elif how == "double":
            content[at:at] = content[at : at + draw(st.integers(1, 200))]
        else:
            del content[at:]
    return bytes(content)


def test_every_reader_is_fuzzed() -> None:
    assert set(TARGETS) == set(READERS)


@pytest.mark.parametrize("reader", TARGETS)
def test_the_seeds_are_read_whole(reader: str) -> None:
    for seed in TARGETS[reader].seeds:
        assert check(reader, seed).counts.quarantined == 0


@pytest.mark.parametrize("reader", TARGETS)
@given(data=st.data())
def test_arbitrary_bytes(reader: str, data: st.DataObject) -> None:
    check(reader, data.draw(st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=30).map(b"".join))))


@pytest.mark.parametrize("reader", TARGETS)
@given(data=st.data())
def test_spoiled_lines_and_headers(reader: str, data: st.DataObject) -> None:
    check(reader, data.draw(spoiled(TARGETS[reader].seeds)))
