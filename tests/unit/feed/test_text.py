"""Text: one observation a line or of the whole input, told apart by what stands before it or by the request."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.feed.reading import got, one
from workers.feed.options import FeedOptions

TEXT = FeedOptions(kind="text")


def test_a_line_is_one_observation() -> None:
    first, second = got(b"a build server opened connections\n\n\nnothing is scheduled\n", TEXT).observations
    assert (first.kind, first.text, first.at, first.flags) == (
        "text",
        "a build server opened connections",
        None,
        ("no_time",),
    )
    assert first.subject.startswith("note:")
    assert len(first.subject) == len("note:") + 16
    assert first.subject != second.subject


def test_origin_is_the_digest_of_the_content_up_to_the_line() -> None:
    first, second = got(b"same\nsame\n", TEXT).observations
    digests = [hashlib.sha256(content).hexdigest() for content in (b"same", b"same\nsame")]
    assert [first.origin, second.origin] == [f"sha256:{one}" for one in digests]
    assert first.id != second.id


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"])), max_size=8))
def test_a_grown_file_keeps_its_ids_whatever_its_last_line_end(lines: list[str]) -> None:
    content = "\n".join(lines).encode()
    before = [one.id for one in got(content, TEXT).observations]
    assert [one.id for one in got(content + b"\n", TEXT).observations] == before
    grown = [one.id for one in got(content + b"\nnew\n", TEXT).observations]
    assert grown[:-1] == before
    assert len(set(grown)) == len(grown)


def test_subject_time_and_tenant_are_the_callers() -> None:
    options = FeedOptions(kind="text", tenant="acme", subject="host:10.0.0.5", at=1_588_205_199_000_000)
    observation = one(b"seen", options)
    assert (observation.case, observation.at, observation.flags) == ("acme/host:10.0.0.5", options.at, ())


def test_a_request_names_its_lines() -> None:
    options = FeedOptions(kind="text", request_id="ticket-7")
    first, second = got(b"same\nsame\n", options).observations
    assert (first.origin, second.origin) == ("ticket-7:1", "ticket-7:2")
    again = got(b"same\nsame\n", options).observations
    assert [one.id for one in again] == [first.id, second.id]


def test_whole_input_is_one() -> None:
    observation = one(b"\xef\xbb\xbffirst\n\nsecond\r\n", FeedOptions(kind="text", whole=True))
    assert observation.text == "first\n\nsecond\r\n"
    named = one(b"first", FeedOptions(kind="text", whole=True, request_id="r1"))
    assert named.origin == "r1"
    assert got(b" \n ", FeedOptions(kind="text", whole=True)).counts.read == 0


def test_the_notes_name_is_not_the_tenants_alone() -> None:
    subjects = {one(b"same", FeedOptions(kind="text", tenant=tenant)).subject for tenant in ("a", "b")}
    assert len(subjects) == 2


def test_what_is_no_utf8_is_named_by_its_place() -> None:
    observations, (fault,), _ = got(b"good\ncanary \xff\nalso good\n", TEXT)
    assert [one.text for one in observations] == ["good", "also good"]
    assert (fault.line, fault.data) == (2, b"canary \xff")
    assert "at byte 8" in str(fault.error)
    assert "canary" not in str(fault.error)


def test_a_whole_text_that_is_too_long_is_one_fault() -> None:
    for size in (901 * 1024, 3 * 1024 * 1024):
        _, (fault,), counts = got(b"x\n" * (size // 2), FeedOptions(kind="text", whole=True))
        assert (fault.error.code, counts.quarantined) == ("record_too_large", 1)
