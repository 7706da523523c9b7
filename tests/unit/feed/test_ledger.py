"""What a content is known by, and what is noted of it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from workers.feed.ledger import Mark, beyond_header, choices, head_digest
from workers.feed.options import FeedOptions
from workers.feed.sniff import HEAD, Choice

HEADER = b"#separator \\x09\n#path\tconn\n#open\t2020-04-30-00-00-00\n#fields\tts\tuid\n#types\ttime\tstring\n"
marks = st.builds(
    Mark,
    st.integers(0),
    st.text("0123456789abcdef"),
    st.integers(0),
    st.integers(0),
    st.text(),
    st.integers(0),
    st.text(),
)


@given(marks)
def test_a_mark_is_what_its_note_says(mark: Mark) -> None:
    assert Mark.decode(mark.encode()) == mark


def test_a_note_from_before_there_was_a_context_is_read_and_written_as_it_was() -> None:
    """A note moves by compare-and-swap on its bytes."""
    old = json.dumps(
        {"length": 7, "digest": "ab", "lines": 1, "records": 1, "tail": "", "at": 5}, separators=(",", ":")
    ).encode()
    assert Mark.decode(old).context == ""
    assert Mark.decode(old).encode() == old


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line), min_size=1, max_size=5), st.booleans())
def test_the_head_stays_while_a_content_grows(lines: list[bytes], header: bool) -> None:
    first = (HEADER if header else b"") + b"1588205199.5\tC1\n"
    grown = first + b"\n".join(lines)
    assert head_digest(grown) == head_digest(first)


def test_logs_with_the_same_header_are_told_apart_by_their_first_record() -> None:
    assert head_digest(HEADER + b"1\tC1\n") != head_digest(HEADER + b"1\tC2\n")
    assert head_digest(HEADER + b"1\tC1\n") == head_digest(b"1\tC1\n")


def test_a_header_ends_at_the_first_line_that_is_none() -> None:
    assert beyond_header(HEADER) == b""
    assert beyond_header(HEADER + b"1\tC1\n#close\n") == b"1\tC1\n#close\n"
    assert beyond_header(b"# a title\ntext\n") == b"# a title\ntext\n"
    assert head_digest(HEADER + b"#" * HEAD) == head_digest(HEADER + b"#" * HEAD + b"\n1\tC1\n")


def test_the_context_is_no_choice() -> None:
    choice = Choice("zeek-tsv", None)
    assert choices(FeedOptions(context="#fields\tts"), choice, None) == choices(FeedOptions(), choice, None)
    assert choices(FeedOptions(origin="x"), choice, None) != choices(FeedOptions(), choice, None)
