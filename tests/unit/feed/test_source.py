"""Whatever way the bytes come, the same lines leave; what is cut or too long is told, in bounded memory."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.digests import QUARANTINED, digest
from workers.feed.source import LINE_LIMIT, PIECE_LINES, Source, of_bytes


class Dripping(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(min(size or 1, 7))


def joined(source: Source) -> bytes:
    return b"".join(b"\n".join(piece.lines) + (b"\n" if piece.end == "line" else b"") for piece in source.pieces())


@given(st.binary(max_size=400), st.integers(0, 3))
def test_plain_gzipped_and_dripping_give_the_same(content: bytes, parts: int) -> None:
    content = content.replace(b"\x1f\x8b", b"..")
    cut = len(content) // (parts + 1) or 1
    members = b"".join(gzip.compress(content[at : at + cut]) for at in range(0, len(content), cut))
    for given_bytes in (content, members):
        source = Source(Dripping(given_bytes))
        head = source.head(64)
        assert content.startswith(head)
        assert joined(source) == content
        assert source.damage is None
        assert source.raw_done == len(given_bytes)
        assert source.content.hexdigest() == of_taken(content)


def of_taken(content: bytes) -> str:
    source = of_bytes(content)
    assert b"".join(source.take(len(content) + 1)) == content
    return source.content.hexdigest()


@given(st.binary(min_size=1, max_size=2000), st.data())
def test_a_cut_gzip_gives_what_it_has_and_says_so(content: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(content)
    cut = data.draw(st.integers(2, len(packed) - 1))
    source = of_bytes(packed[:cut])
    pieces = list(source.pieces())
    assert pieces[-1].end == "damage"
    assert [piece.end for piece in pieces[:-1]] == ["line"] * (len(pieces) - 1)
    assert source.damage == "the gzip data ends before its end: the file is cut"
    assert content.startswith(joined(of_bytes(packed[:cut])))


def test_damaged_gzip_is_told_from_cut_gzip() -> None:
    packed = bytearray(gzip.compress(b"line\n" * 1000))
    packed[-6] ^= 255
    source = of_bytes(bytes(packed))
    assert list(source.pieces())[-1].end == "damage"
    assert source.damage == "the gzip data is damaged from here on"


def test_zero_padding_after_gzip_is_no_damage() -> None:
    source = of_bytes(gzip.compress(b"a\n") + b"\0" * 100)
    assert [piece.lines for piece in source.pieces()] == [[b"a"]]
    assert source.damage is None


@pytest.mark.parametrize("ending", [b"\n", b"", b"\nlast"])
@pytest.mark.parametrize(
    ("size", "dripping"),
    [(LINE_LIMIT + 1, False), (LINE_LIMIT + 1, True), (LINE_LIMIT + 300_000, False), (3 * LINE_LIMIT, False)],
)
def test_a_line_too_long_is_a_prefix_with_size_and_digest(size: int, ending: bytes, dripping: bool) -> None:
    long = (b"0123456789" * (size // 10 + 1))[:size]
    content = b"first\n" + long + ending
    source = Source(Dripping(content) if dripping else io.BytesIO(content))
    pieces = list(source.pieces())
    (found,) = [piece for piece in pieces if piece.oversized]
    assert found.oversized == (long[: 64 * 1024], size, digest(QUARANTINED, long))
    assert found.end == ("line" if ending.startswith(b"\n") else "tail")
    assert sum(piece.size for piece in pieces) == len(content)
    assert [line for piece in pieces for line in piece.lines] == [b"first"] + [b"last"] * (ending == b"\nlast")
    assert source.content.hexdigest() == of_taken(content)


def test_a_line_at_the_limit_is_held() -> None:
    pieces = list(of_bytes(b"x" * LINE_LIMIT + b"\n").pieces())
    assert [piece.oversized for piece in pieces] == [None]


def test_memory_does_not_grow_with_a_line() -> None:
    packed = gzip.compress(b"\0" * 100 * 1024 * 1024, 1)
    tracemalloc.start()
    (piece,) = of_bytes(packed).pieces()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert piece.oversized is not None
    assert piece.oversized.size == 100 * 1024 * 1024
    assert peak < 8 * 1024 * 1024


def test_pieces_have_a_stated_number_of_lines() -> None:
    sizes = [len(piece.lines) for piece in of_bytes(b"a\n" * (PIECE_LINES * 2 + 1)).pieces()]
    assert sizes == [PIECE_LINES, PIECE_LINES, 1]


class Failing(io.BytesIO):
    """A file whose disk fails behind its first bytes."""

    def read1(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(5, "Input/output error")
        return super().read1(size)


def test_a_failing_disk_is_damage_not_an_end() -> None:
    source = Source(Failing(b"whole line\ncut"))
    pieces = list(source.pieces())
    assert [(piece.lines, piece.end) for piece in pieces] == [([b"whole line"], "line"), ([b"cut"], "damage")]
    assert source.damage == "the input could not be read any further: Input/output error"
