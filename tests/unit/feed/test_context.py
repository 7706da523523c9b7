"""A reader made with another one's context reads on as that one would, wherever a file is cut in two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InputError
from workers.feed.options import FeedOptions
from workers.feed.reader import Item, NoRedaction, Reader
from workers.feed.sniff import READERS

LINES = (
    b"#separator \\x09",
    b"#path\tconn",
    b"#path\tdns",
    b"#fields\tts\tuid\tid.orig_h",
    b"#fields\tuid\tts",
    b"#types\ttime\tstring\taddr",
    b"#types\tstring\ttime",
    b"#unset_field\t~",
    b"#close\t2020-04-30-01-00-00",
    b"1588205199.5\tC1\t10.0.0.1",
    b"C2\t1588205200.5",
    b"~\t1588205200.5",
    b'{"_path":"conn","ts":1588205199.5,"id.orig_h":"10.0.0.1"}',
    b'{"timestamp":"2020-04-30T00:06:39.5+0000","event_type":"alert","src_ip":"10.0.0.1"}',
    b"rubbish",
)


def said(reader: Reader, line: bytes) -> Item | str | None:
    """What a reader makes of a line."""
    try:
        return reader.read(line, "request")
    except InputError as error:
        return str(error)


@given(st.sampled_from(sorted(READERS)), st.lists(st.sampled_from(LINES), max_size=12), st.integers(0, 12))
def test_it_reads_on(name: str, lines: list[bytes], cut: int) -> None:
    def made(context: str) -> Reader:
        return READERS[name](FeedOptions(), "conn" if name.startswith("zeek") else None, NoRedaction(), context)

    whole, first = made(""), made("")
    expected = [said(whole, line) for line in lines]
    before = [said(first, line) for line in lines[:cut]]
    second = made(first.context)
    assert before + [said(second, line) for line in lines[cut:]] == expected
    assert second.context == whole.context
    assert len(whole.context) <= 64 * 1024
